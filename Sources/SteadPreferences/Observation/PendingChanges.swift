/// Changes that wait for a consumer, combined where that loses nothing.
///
/// For preferences they are the first old and the last new value of each key, for a history one delta.
protocol PendingChanges: Sendable {
  /// What a consumer takes at once.
  associatedtype Change: Sendable

  /// Begins with none.
  init()

  /// Adds a change after those that wait.
  mutating func add(_ change: Change)

  /// The change that has waited longest; nil if none.
  mutating func take() -> Change?
}
