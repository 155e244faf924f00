import Foundation
import Synchronization

/// A hybrid logical clock: the stamps of edits rise with the time, and never fall behind one that was observed.
///
/// A stamp is the milliseconds since 1970 times 65,536, plus a counter of the edits within a millisecond. When a
/// system's clock goes back, stamps go on from the last one.
struct EditClock {
  /// The low bits of a stamp, which are the counter.
  static let counterBits: Int64 = 16

  /// The greatest stamp that was made or seen.
  private(set) var last: Int64 = 0

  /// The stamp of an edit that is made now: greater than all before it.
  mutating func next() -> Int64 {
    // The counter is in the low bits, so one more is the next edit of the same millisecond.
    last = max(last &+ 1, Self.now)
    return last
  }

  /// Advances the clock to another device's stamp: later edits are stamped above it.
  mutating func observe(_ stamp: Int64) { last = max(last, stamp) }

  /// The first stamp of this millisecond.
  static var now: Int64 {
    var time = timespec()
    // The wall clock, since stamps of several devices are compared.
    clock_gettime(CLOCK_REALTIME, &time)
    return (Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000) << counterBits
  }

  /// The time of a stamp.
  static func date(_ stamp: Int64) -> Date {
    Date(timeIntervalSince1970: Double(stamp >> counterBits) / 1000)
  }
}

// MARK: - Commits

/// The clock of this process's commits: stamps rise across all stores, so that transactions of several stores have an order.
struct CommitClock {
  /// One second of stamps. A store whose stamp is further in the future does not advance the clock for the others.
  private static let reach: Int64 = 1000 << EditClock.counterBits

  static let shared = Mutex(CommitClock())

  /// The stamp of the last commit of this process, in whichever store.
  private var last: Int64 = 0

  /// The stamp of a commit that is made now.
  ///
  /// - Parameter least: What the store's last commit and the edits ask for.
  mutating func stamp(atLeast least: Int64) -> Int64 {
    // The store is ahead; or it is far behind, since another store's stamp is in the future. Either
    // way its own time counts.
    if least > last || last - least > Self.reach {
      last = least
    } else {
      last += 1
    }
    return last
  }
}

extension CommitLog.Point {
  /// The greatest number of a commit: ``RowVersionTable`` has 31 bits for it.
  static let numberLimit: Int64 = 1 << 31 - 1
  /// The greatest stamp, some million years ahead.
  static let stampLimit: Int64 = 1 << 62

  /// Whether no commit can come after this one, read from a store that another program has damaged.
  var isExhausted: Bool {
    !(0..<Self.numberLimit ~= number && 0..<Self.stampLimit ~= stamp)
  }

  /// This point, read from a store.
  ///
  /// - Throws: `unreadableStore` if no commit can come after it.
  func checked() throws -> Self {
    if isExhausted { throw SwiftDataError(.unreadableStore, Self.problem) }
    return self
  }

  /// The error's message about a last transaction that leaves no numbers.
  static let problem =
    "The store's last transaction has a number or a stamp that leaves none for the next one: another program has written it. "
    + "Nothing was written. Open a backup, or delete the row from the table stead_history."

  /// The point of a commit that is made now, after this one.
  ///
  /// - Parameter least: The greatest stamp of its edits.
  /// - Throws: `unreadableStore` if the numbers or stamps are used up.
  func next(atLeast least: Int64 = 0) throws -> Self {
    _ = try checked()
    let stamp = max(EditClock.now, stamp + 1, least)
    guard stamp < Self.stampLimit else { throw SwiftDataError(.unreadableStore, Self.problem) }
    return Self(
      number: number + 1, stamp: CommitClock.shared.withLock { $0.stamp(atLeast: stamp) })
  }
}
