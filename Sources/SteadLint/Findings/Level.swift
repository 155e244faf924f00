/// How severe a finding is.
public enum Level: String, CaseIterable, Codable, Comparable, Sendable {
  /// Worth knowing; the code is often right.
  case note
  /// Data or time is lost in some case that users meet.
  case warning
  /// As it is, the code exposes a secret or loses data.
  case error

  private var rank: Int {
    switch self {
    case .note: 0
    case .warning: 1
    case .error: 2
    }
  }

  public static func < (one: Level, other: Level) -> Bool {
    one.rank < other.rank
  }
}
