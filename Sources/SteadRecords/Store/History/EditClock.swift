import Foundation

/// A hybrid clock: the stamps of edits rise with the time, and never fall behind one that was seen.
///
/// A stamp is the milliseconds since 1970 times 65,536, plus a counter of the edits within a millisecond. When a
/// system's clock goes back, stamps go on from the last one.
struct EditClock {
  /// The bits of a stamp that count.
  static let counterBits: Int64 = 16

  /// The greatest stamp that was made or seen.
  private(set) var last: Int64 = 0

  /// The stamp of an edit that is made now: greater than all before it.
  mutating func next() -> Int64 {
    last = max(last &+ 1, Self.now)
    return last
  }

  /// Notes another device's stamp: later edits are stamped above it.
  mutating func observe(_ stamp: Int64) { last = max(last, stamp) }

  /// The first stamp of this millisecond.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return (Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000) << counterBits
  }

  /// The time of a stamp.
  static func date(_ stamp: Int64) -> Date {
    Date(timeIntervalSince1970: Double(stamp >> counterBits) / 1000)
  }
}
