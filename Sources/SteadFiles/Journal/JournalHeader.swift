import CSteadFiles
import Foundation

/// The part of a journal file that never changes.
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

  enum Reading {
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
  static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
    guard bytes.count >= JournalLayout.headerByteCount else {
      return startsLikeJournal(bytes) ? .damaged : .foreign
    }
    let copies = JournalLayout.copies.map { read(bytes, at: $0) }
    for copy in copies {
      if let copy { return .header(copy, isWhole: copies.allSatisfy { $0 != nil }) }
    }
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
