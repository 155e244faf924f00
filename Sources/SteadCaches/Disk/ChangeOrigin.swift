import Synchronization

/// One who knows of its own changes, and counts them so that only those of others count.
final class ChangeOrigin: Sendable {
  private let own = Mutex<UInt64>(0)

  /// Counts a change of its own, and tells others with a body. Nobody reads one of the two counts without the other.
  func add(_ tellOthers: () -> Void) {
    own.withLock { own in
      own += 1
      tellOthers()
    }
  }

  /// How many of all changes others have made; nil where that can't be told.
  ///
  /// - Parameter countAll: Counts all changes.
  func countOfOthers(_ countAll: () -> UInt64?) -> UInt64? {
    own.withLock { own in countAll().map { $0 &- own } }
  }
}
