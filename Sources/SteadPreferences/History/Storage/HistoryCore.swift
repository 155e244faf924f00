import Foundation
import SteadFiles

/// A history's state in memory, and the lock around it.
///
/// The lock is held around calls of the domain, and never while the program's own code runs: payloads are
/// coded and observers notified without it.
final class HistoryCore: @unchecked Sendable {
  // Sendable: `state` is accessed only between lock and unlock, so never by two threads at once.
  struct State {
    var table = HistoryTable()
    var header = HistoryHeader()
    var marks = DomainMarks()
    var isLoaded = false
    /// Grows with each change of the table.
    var epoch: UInt64 = 0
    /// All payloads in one box, newest first, once they have been requested.
    var items: AnyPayload?
    var usage = HistoryUsage()
    /// Whether somebody observes changes.
    var isFollowed = false
    var mail: [HistoryDelta] = []
    var turn = DeliveryTurn()
    var receivers: [UInt64: HistoryReceiver] = [:]
    var lastReceiver: UInt64 = 0
  }

  private let lock = NSLock()
  private var state = State()

  func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }
}
