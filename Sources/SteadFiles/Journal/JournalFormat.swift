import CSteadFiles
import Foundation

/// The layout of a journal file, version 1. Numbers are little-endian; a word is 8 bytes.
///
/// | offset | size | holds |
/// |---|---|---|
/// | 0 | 296 | header, first copy: magic, version, length of the metadata, salt, length and CRC-32C of the checkpoint, metadata, CRC-32C of all that |
/// | 512 | 296 | header, second copy |
/// | 1024 | 8 | tail: where the log ends, and two flags |
/// | 1152 | 8 | the number of listeners |
/// | 1280 | 8 | when listeners were last woken |
/// | 1408 to 1495 | 88 | words about this file: durable name, flushed tail, failed sync, identity, generation, image |
/// | 1536 | 8 | the state of a kept lock |
/// | 2048 | 768 | lineage: 32 entries of three words |
/// | 2816 | 768 | origins: 32 entries of three words |
/// | 4096 | | checkpoint, zeros up to a multiple of 8, records, a word of zero, room |
///
/// The words that processes change often are 128 bytes apart, so that no two share a pair of cache lines. A
/// record is a length (4 bytes), a CRC-32C of salt, length and payload (4 bytes), the payload, and zeros up to a multiple of 8.
/// Documentation/JournalFile.md has each word and an example to the byte.
@usableFromInline
enum JournalLayout {
  static let version: UInt32 = 1
  /// "SteadJnl", read as a little-endian number.
  static let magic: UInt64 = 0x6C6E_4A64_6165_7453

  /// The header page; the checkpoint's bytes follow.
  static let headerByteCount = 4096
  /// The two copies of the part that never changes.
  // A sector apart: a torn write of one sector damages one copy.
  static let copies = [0, 512]

  /// Where the log ends, with ``flags``.
  @usableFromInline static let tail = Int(STEAD_JOURNAL_TAIL)
  /// How many journals listen.
  @usableFromInline static let listeners = 1152
  /// When a writer last woke the listeners; 0 once one of them is awake.
  static let notice = 1280
  /// The number of the file (``FileStatus/Identity/word``) once its name is durable.
  static let durableName = 1408
  /// The greatest tail that a flush had read before it synced the file.
  static let flushedTail = 1416
  /// 1 once a sync of the file has failed.
  static let failedSync = 1432
  /// In a repaired file: the records before this were copied from the damaged one.
  static let restoredEnd = 1440
  /// The number of the file that this one was when it was made or last opened with the lock. In a copy it is another one's.
  static let home = 1448
  /// Records from here on were written while the file was this one.
  static let homeTail = 1456
  /// Greater than that of every file that the maker of this one knew.
  @usableFromInline static let generation = 1464
  /// Where an image begins, its length and its checksum; 0 without an image.
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

// MARK: - Header

/// The part of a journal file that is written before the file gets its name, and never changes.
struct JournalHeader {
  /// Distinguishes this file's records from what an older file left on the same blocks of the disk.
  var salt: UInt64
  var checkpointByteCount: Int
  var checkpointChecksum: UInt32
  var metadata: Data

  /// The initial value of all records' checksums.
  var seed: UInt32 {
    withUnsafeBytes(of: salt.littleEndian) { stead_crc32c(0, $0.baseAddress!, $0.count) }
  }
  var logStart: Int { JournalLayout.logStart(checkpointByteCount: checkpointByteCount) }

  enum ParseResult {
    /// `isWhole` means that both copies are good.
    case header(JournalHeader, isWhole: Bool)
    case newerVersion(UInt32)
    case damaged
    /// The bytes do not look like a journal's.
    case foreign
  }
}

extension JournalHeader {
  // Offsets in each copy.
  private static let version = 8
  private static let metadataByteCount = 12
  private static let salt = 16
  private static let checkpointByteCount = 24
  private static let checkpointChecksum = 32
  private static let metadata = 36
  private static let checksum = metadata + Journal.metadataLimit

  /// The header page of a new file whose log ends at `tail`.
  func page(tail: Int) -> Data {
    // All of it is covered by the checksum, the zeros behind short metadata included.
    var copy = Data(count: Self.checksum)
    copy.put(JournalLayout.magic, at: 0)
    copy.put(JournalLayout.version, at: Self.version)
    copy.put(UInt32(metadata.count), at: Self.metadataByteCount)
    copy.put(salt, at: Self.salt)
    copy.put(UInt64(checkpointByteCount), at: Self.checkpointByteCount)
    copy.put(checkpointChecksum, at: Self.checkpointChecksum)
    copy.replaceSubrange(Self.metadata..<(Self.metadata + metadata.count), with: metadata)
    let checksum = copy.withUnsafeBytes { stead_crc32c(0, $0.baseAddress!, $0.count) }
    var page = Data(count: JournalLayout.headerByteCount)
    for start in JournalLayout.copies {
      page.replaceSubrange(start..<(start + copy.count), with: copy)
      page.put(checksum, at: start + copy.count)
    }
    page.put(UInt64(tail), at: JournalLayout.tail)
    return page
  }

  /// Reads the first page of a file, or as much of it as exists.
  static func read(_ bytes: UnsafeRawBufferPointer) -> ParseResult {
    guard bytes.count >= JournalLayout.headerByteCount else {
      return startsLikeJournal(bytes) ? .damaged : .foreign
    }
    let copies = JournalLayout.copies.map { read(bytes, at: $0) }
    for copy in copies {
      if let copy { return .header(copy, isWhole: copies.allSatisfy { $0 != nil }) }
    }
    // Neither copy is good. A newer format is told from damage by what stays in every format: both copies have the magic, and
    // the same version. A flipped bit changes only one of them.
    let magics = JournalLayout.copies.count { bytes.word(at: $0) == JournalLayout.magic }
    let versions = Set(JournalLayout.copies.map { bytes.half(at: $0 + version) })
    if magics == copies.count, versions.count == 1, let found = versions.first,
      found > JournalLayout.version
    {
      return .newerVersion(found)
    }
    return magics > 0 ? .damaged : .foreign
  }

  private static func startsLikeJournal(_ bytes: UnsafeRawBufferPointer) -> Bool {
    withUnsafeBytes(of: JournalLayout.magic.littleEndian) { magic in
      magic.starts(with: bytes.prefix(magic.count))
    }
  }

  private static func read(_ bytes: UnsafeRawBufferPointer, at start: Int) -> JournalHeader? {
    let copy = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + checksum)])
    // The checksum first: no field of a copy is used before it is known to be whole. The lengths are checked
    // nevertheless, as anybody can write a file with a correct checksum.
    guard stead_crc32c(0, copy.baseAddress!, copy.count) == bytes.half(at: start + checksum),
      copy.word(at: 0) == JournalLayout.magic, copy.half(at: version) == JournalLayout.version,
      let checkpointByteCount = Int(exactly: copy.word(at: checkpointByteCount)),
      checkpointByteCount <= Journal.checkpointLimit,
      case let metadataByteCount = Int(copy.half(at: metadataByteCount)),
      metadataByteCount <= Journal.metadataLimit
    else { return nil }
    return JournalHeader(
      salt: copy.word(at: salt), checkpointByteCount: checkpointByteCount,
      checkpointChecksum: copy.half(at: checkpointChecksum),
      metadata: Data(copy[metadata..<(metadata + metadataByteCount)]))
  }
}

extension Data {
  fileprivate mutating func put<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
    Swift.withUnsafeBytes(of: number.littleEndian) { bytes in
      replaceSubrange(offset..<(offset + bytes.count), with: bytes)
    }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  fileprivate func half(at offset: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
}

// MARK: - Records

/// Reads the records of a mapped journal file.
///
/// Bounds are checked before each access, since the length of a record comes from a file that anybody may have damaged.
struct JournalLog {
  let bytes: UnsafeRawBufferPointer
  let seed: UInt32

  /// The payload of a complete record that begins at an offset and ends at or before `limit`.
  ///
  /// Another program can overwrite the file at any moment, so what was verified here may be something else when it
  /// is read; see ``copy(at:limit:into:)``.
  func payload(at offset: Int, limit: Int) -> UnsafeRawBufferPointer? {
    guard let (payload, checksum) = frame(at: offset, limit: limit),
      stead_crc32c_record(seed, payload.baseAddress!, UInt32(payload.count)) == checksum
    else { return nil }
    return payload
  }

  /// Copies the payload of a complete record, and verifies the copy, which nobody else can change.
  ///
  /// - Returns: The copy, and the word of length and checksum that the record begins with.
  func copy(
    at offset: Int, limit: Int, into buffer: inout RecordBuffer
  ) -> (payload: UnsafeRawBufferPointer, word: UInt64)? {
    guard let (payload, checksum) = frame(at: offset, limit: limit) else { return nil }
    let copy = buffer.copy(payload)
    guard stead_crc32c_record(seed, copy.baseAddress!, UInt32(copy.count)) == checksum else {
      return nil
    }
    return (copy, UInt64(checksum) << 32 | UInt64(copy.count))
  }

  /// A record's payload and checksum, which is not verified.
  private func frame(
    at offset: Int, limit: Int
  ) -> (payload: UnsafeRawBufferPointer, checksum: UInt32)? {
    let start = offset + JournalLayout.recordHeaderByteCount
    guard offset >= 0, start <= limit, limit <= bytes.count, let base = bytes.baseAddress else {
      return nil
    }
    // Acquire order, so that the payload read next is at least as new as its header.
    let header = stead_load_acquire(base + offset)
    // One load gets length and checksum, which a writer has stored at once.
    let count = Int(UInt32(truncatingIfNeeded: header))
    // 0 is the end of the log, and more than the limit is damage.
    guard count > 0, count <= Journal.recordLimit,
      JournalLayout.roundedUp(count) <= limit - start
    else { return nil }
    let payload = base + start
    return (
      UnsafeRawBufferPointer(start: payload, count: count), UInt32(truncatingIfNeeded: header >> 32)
    )
  }

  /// Where the record after the one with this payload begins.
  static func end(ofPayloadAt offset: Int, _ payload: UnsafeRawBufferPointer) -> Int {
    offset + JournalLayout.recordHeaderByteCount + JournalLayout.roundedUp(payload.count)
  }

  /// Where the run of complete records that begins at an offset ends.
  func end(from offset: Int) -> Int {
    var offset = offset
    while let payload = payload(at: offset, limit: bytes.count) {
      offset = Self.end(ofPayloadAt: offset, payload)
    }
    return offset
  }
}

/// Memory of this process for one record at a time.
///
/// A record is built here before it goes into the file, and read from here once it has been copied out of the
/// file: another program can overwrite the file between two accesses to the same byte.
@usableFromInline
struct RecordBuffer: ~Copyable {
  @usableFromInline var bytes: UnsafeMutableRawBufferPointer
  /// Most records fit into this many bytes.
  private static let usualByteCount = 4096
  /// Larger spaces are not kept from one record to the next.
  private static let keptByteCount = 256 << 10

  init() {
    bytes = .allocate(byteCount: Self.usualByteCount, alignment: 16)
  }

  // Inlinable, since the setter of a property that clients inline destroys the old value.
  @inlinable
  deinit { bytes.deallocate() }

  /// Makes room for a record.
  @usableFromInline
  mutating func resize(for byteCount: Int) {
    // A large buffer is given back at the next record, so that one large value does not cost its size for good.
    if bytes.count >= byteCount, bytes.count <= Self.keptByteCount { return }
    bytes.deallocate()
    bytes = .allocate(byteCount: max(byteCount, Self.usualByteCount), alignment: 16)
  }

  /// Copies a record.
  mutating func copy(_ payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    resize(for: payload.count)
    let copy = UnsafeMutableRawBufferPointer(rebasing: bytes[..<payload.count])
    copy.copyMemory(from: payload)
    return UnsafeRawBufferPointer(copy)
  }
}

extension UnsafeRawBufferPointer {
  /// The CRC-32C of the bytes.
  package var checksum: UInt32 {
    guard let baseAddress else { return 0 }
    return stead_crc32c(0, baseAddress, count)
  }
}
