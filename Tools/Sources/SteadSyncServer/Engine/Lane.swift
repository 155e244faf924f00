/// A sequence of work: work in one lane runs in the order of its arrival.
enum Lane: Hashable, Sendable {
  case zone(String)
  case account(String)
  case server
}

/// Work for a connection.
struct Job: Sendable {
  let lane: Lane
  /// Does the work, perhaps several times. The returned closure is called after the commit.
  let work: @Sendable (any SQLSession) throws -> @Sendable () -> Void
  /// Called with the reason, instead, if the work or the commit fails.
  let fail: @Sendable (any Error) -> Void
}
