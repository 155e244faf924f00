/// A place in a history: later transactions have greater tokens.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
  associatedtype TokenType

  /// The place as a plain value.
  var tokenValue: TokenType? { get }
}
