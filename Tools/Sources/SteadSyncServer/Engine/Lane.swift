/// What belongs together in time: work in one lane is done in the order in which it came.
enum Lane: Hashable, Sendable {
  case zone(String)
  case account(String)
  case server
}

/// Work for a connection.
struct Job: Sendable {
  let lane: Lane
  /// Does the work, perhaps several times; what it returns is called when the transaction was committed.
  let work: @Sendable (any SQLSession) throws -> @Sendable () -> Void
  /// Called instead, with the reason, if the work or the commit failed.
  let fail: @Sendable (any Error) -> Void
}
