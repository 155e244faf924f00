import Synchronization

/// An object that knows its own changes, and counts them so that only others' changes count.
final class ChangeOrigin: Sendable {
  private let own = Mutex<UInt64>(0)

  /// Counts a change of its own, and announces it with a body. Nobody reads one of the two counts without the other.
  func add(_ tellOthers: () -> Void) {
    own.withLock { own in
      own += 1
      tellOthers()
    }
  }

  /// How many of all changes others have made; nil if that can't be determined.
  ///
  /// - Parameter countAll: Counts all changes.
  func countOfOthers(_ countAll: () -> UInt64?) -> UInt64? {
    own.withLock { own in countAll().map { $0 &- own } }
  }
}
