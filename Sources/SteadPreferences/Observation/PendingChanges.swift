/// Changes that wait for a consumer, made into fewer where that loses nothing.
///
/// Of preferences they are the first old and the last new value of each key, of a history one delta.
protocol PendingChanges: Sendable {
  /// What a consumer takes at once.
  associatedtype Change: Sendable

  /// Begins with none.
  init()

  /// Takes in a change behind those that wait.
  mutating func add(_ change: Change)

  /// The change that waits longest, nil when none does.
  mutating func take() -> Change?
}
