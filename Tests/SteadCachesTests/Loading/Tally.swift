import Synchronization

/// A number that any thread counts up.
final class Tally: Sendable {
  private let count = Mutex(0)

  var value: Int { count.withLock { $0 } }

  /// Returns the new number.
  func add() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
