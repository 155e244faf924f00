import Synchronization

/// The stamps of this process's commits, which rise from one store to the next, so that transactions of several stores
/// have an order.
struct CommitClock {
  /// Stamps of one second. A store with a stamp from further in the future does not move the others'.
  private static let reach: Int64 = 1000 << EditClock.counterBits

  static let shared = Mutex(CommitClock())

  private var last: Int64 = 0

  /// The stamp of a commit that is made now.
  ///
  /// - Parameter least: What the store's last commit and the edits ask for.
  mutating func stamp(atLeast least: Int64) -> Int64 {
    if least > last || last - least > Self.reach {
      last = least
    } else {
      last += 1
    }
    return last
  }
}

extension CommitLog.Point {
  /// The point of a commit that is made now, after this one.
  ///
  /// - Parameter least: The greatest stamp of its edits.
  func next(atLeast least: Int64 = 0) -> Self {
    let stamp = max(EditClock.now, stamp + 1, least)
    return Self(
      number: number + 1, stamp: CommitClock.shared.withLock { $0.stamp(atLeast: stamp) })
  }
}
