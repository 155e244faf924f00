import CSteadFiles
import Foundation

/// The layout of a journal file; Documentation/JournalFile.md draws it and gives the reasons.
@usableFromInline
enum JournalLayout {
  static let version: UInt32 = 1
  /// "SteadJnl", read as a little-endian number.
  static let magic: UInt64 = 0x6C6E_4A64_6165_7453

  /// The header page; the checkpoint's bytes follow.
  static let headerByteCount = 4096
  /// The two copies of the part that never changes.
  static let copies = [0, 512]

  @usableFromInline static let tail = Int(STEAD_JOURNAL_TAIL)
  @usableFromInline static let listeners = 1152
  static let notice = 1280
  static let durableName = 1408
  static let flushedTail = 1416
  static let failedSync = 1432
  static let restoredEnd = 1440
  static let home = 1448
  static let homeTail = 1456
  @usableFromInline static let generation = 1464
  static let image = 1472
  static let imageByteCount = 1480
  static let imageChecksum = 1488
  static let lineage = 2048
  static let origins = 2816
  @usableFromInline static let keptLock = Int(STEAD_JOURNAL_KEPT_LOCK)

  /// Where the salt is in the first copy of the header.
  @usableFromInline static let salt = 16

  /// Length and checksum, before each payload.
  @usableFromInline static let recordHeaderByteCount = 8
  /// Room for the word after the last record, which marks the end.
  @usableFromInline static let endByteCount = 8

  /// In the tail word: a new file is about to take this one's name.
  static let compacting: UInt64 = 1 << 62
  /// In the tail word: a new file has taken this one's name.
  static let superseded: UInt64 = 1 << 63
  static let flags = compacting | superseded

  static func logStart(checkpointByteCount: Int) -> Int {
    headerByteCount + roundedUp(checkpointByteCount)
  }

  /// The next multiple of 8.
  @inlinable
  static func roundedUp(_ count: Int) -> Int { (count + 7) & ~7 }

  /// How long a file has to be to hold `needed` bytes: small ones stay small, large ones grow in steps of a mebibyte.
  static func fileByteCount(now: Int, needed: Int) -> Int {
    let firstStep = 16 << 10
    // Doubling would give a journal of 130 KiB twice the room that it needs.
    let longestStep = now < 256 << 10 ? 64 << 10 : 1 << 20
    return pages(max(needed, now + min(max(now, firstStep), longestStep)))
  }

  /// The next multiple of a page's length.
  static func pages(_ count: Int) -> Int { (count + 4095) & ~4095 }
}
