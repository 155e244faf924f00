/// Decides when a journal's lock is kept from one write to the next.
///
/// It is asked at each look, which is once in ``Journal/writesPerLook`` writes. Times are milliseconds of
/// `stead_clock()`.
struct LockKeeping {
  /// Writes follow one another closely if two looks are at most this far apart.
  static let lookLimit: UInt64 = 8
  /// The longest time for which the lock is kept if writes never pause.
  ///
  /// Programs of a version that does not request the lock must get their turn, too.
  static let keptLimit: UInt64 = 8
  /// The number of looks after that during which the lock is not kept.
  static let looksAfterLimit = 4
  /// The number of looks during which the lock is not kept after another process has written or waited. That
  /// process needs 0.05 ms to request the lock, more than keeping it for some hundred writes saves.
  static let looksAfterOthers = 64

  /// The number of looks left before the lock may be kept again.
  private(set) var looksLeft = 0
  private var lastLook: UInt64?
  private var keptSince: UInt64 = 0

  /// Another process has written, is waiting, or made this one wait.
  mutating func meetOthers() { looksLeft = Self.looksAfterOthers }

  /// Whether to start keeping the lock, or to go on keeping it.
  mutating func keeps(at now: UInt64, isKept: Bool) -> Bool {
    defer { lastLook = now }
    if isKept {
      guard now &- keptSince >= Self.keptLimit else { return true }
      looksLeft = Self.looksAfterLimit
      return false
    }
    guard let lastLook, now &- lastLook <= Self.lookLimit else { return false }
    if looksLeft > 0 { looksLeft -= 1 }
    guard looksLeft == 0 else { return false }
    keptSince = now
    return true
  }
}
