/// Decides when a journal's lock is kept from one write to the next.
///
/// It is asked at each look, that is once in ``Journal/writesPerLook`` writes. Times are milliseconds of
/// `stead_clock()`.
struct LockKeeping {
  /// Writes follow one another closely if there is a look within so long of the one before.
  static let lookLimit: UInt64 = 8
  /// The lock is kept for so long at most, if writes never pause.
  ///
  /// Programs of a version that does not ask for it must come in, too.
  static let keptLimit: UInt64 = 8
  /// So many looks it is not kept after that.
  static let looksAfterLimit = 4
  /// So many looks it is not kept after another process has written or waited. That process needs 0.05 ms to
  /// ask for the lock, more than keeping it for some hundred writes saves.
  static let looksAfterOthers = 64

  /// After so many looks it may be kept again.
  private(set) var looksLeft = 0
  private var lastLook: UInt64?
  private var keptSince: UInt64 = 0

  /// Another process has written, waits or had this one wait.
  mutating func meetOthers() { looksLeft = Self.looksAfterOthers }

  /// Whether the lock is to be kept from now on, or further on.
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
