import SteadFiles

/// Which thread notifies observers: one at a time, so that they receive events in order.
///
/// Kept under a lock. The child of a fork lacks the thread whose turn it was, so there the turn is free.
struct DeliveryTurn: Sendable {
  private var generation: UInt64?

  /// Takes the turn; false when another thread, or a caller of this one, has it.
  mutating func begin() -> Bool {
    let current = forkGeneration
    guard generation != current else { return false }
    generation = current
    return true
  }

  mutating func end() { generation = nil }
}
