/// A place in a history: what was recorded later has a greater token.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
  associatedtype TokenType

  /// The place as a plain value.
  var tokenValue: TokenType? { get }
}
