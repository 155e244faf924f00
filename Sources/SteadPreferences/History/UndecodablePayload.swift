import Foundation

/// An entry of a history that this program cannot read; it is kept as it is.
///
/// ``PayloadHistory/undecodable`` lists them. None is ever overwritten, and none is dropped for the
/// limit; ``PayloadHistory/discardUndecodable(_:)`` removes those that it is given.
public struct UndecodablePayload: Sendable {
  /// Why an entry cannot be read, to compare with.
  public struct Reason: Hashable, Sendable {
    private enum Name { case doesNotDecode, upgradeFailed, newerVersion, unreadable, notAnEntry }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The bytes are not those of a payload: a field is missing or of another type, or they are no JSON.
    public static let doesNotDecode = Reason(.doesNotDecode)
    /// A ``PayloadUpgrade`` threw an error.
    public static let upgradeFailed = Reason(.upgradeFailed)
    /// A newer version of the program wrote it, with fields that this one does not know.
    public static let newerVersion = Reason(.newerVersion)
    /// The file that a large payload was moved to is missing, damaged, or may not be read.
    public static let unreadable = Reason(.unreadable)
    /// Somebody else has put something into the history's domain.
    public static let notAnEntry = Reason(.notAnEntry)
  }

  /// The entry's place among all entries, those that decode included; the newest has 0.
  public let index: Int
  /// The version of the payload's fields that it was written with.
  public let version: Int
  /// What is stored: JSON in nearly all cases, and for ``Reason/notAnEntry`` a property list. Empty when
  /// it is ``Reason/unreadable``.
  public let bytes: Data
  /// Why it cannot be read, to compare with.
  public let reason: Reason
  /// Why it cannot be read, in a sentence for a person; it names fields and holds no value.
  public let message: String
  /// The error underneath, where there was one. Its texts may hold values.
  public let cause: (any Error)?
  /// What it is found by again.
  let sequence: UInt64
  let stored: StoredEntry
}

/// Why one entry does not decode.
struct UndecodableCause: Error, Sendable {
  var reason: UndecodablePayload.Reason
  var message: String
  var cause: (any Error)?
}

extension UndecodableCause {
  /// What a payload's own decoding threw. The texts of such errors may hold values; field names do not.
  init(decoding error: any Error) {
    self.init(
      reason: .doesNotDecode, message: Self.message(for: error), cause: error)
  }

  static func newerVersion(_ version: Int) -> UndecodableCause {
    UndecodableCause(
      reason: .newerVersion,
      message: "It has version \(version), which is newer than this program knows.")
  }

  private static func message(for error: any Error) -> String {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context)?:
      "The field \(path(context.codingPath + [key])) is missing."
    case .valueNotFound(_, let context)?:
      "The field \(path(context.codingPath)) is null."
    case .typeMismatch(_, let context)?:
      "The field \(path(context.codingPath)) is of another type."
    case .dataCorrupted(let context)? where !context.codingPath.isEmpty:
      "The field \(path(context.codingPath)) holds something that its type does not allow."
    case .dataCorrupted?: "It is no JSON."
    default: "It could not be decoded."
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }
}
