import SteadFiles

/// Which thread tells observers of what has happened: one at a time, so that they hear it in its order.
///
/// Kept under a lock. The child of a fork does not have the thread whose turn it was, so there the turn
/// is free.
struct DeliveryTurn: Sendable {
  private var generation: UInt64?

  /// Takes the turn, or says false when another thread has it, or a caller of this one.
  mutating func begin() -> Bool {
    let current = forkGeneration
    guard generation != current else { return false }
    generation = current
    return true
  }

  mutating func end() { generation = nil }
}
