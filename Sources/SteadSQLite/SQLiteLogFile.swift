import Foundation

/// The bytes of a write-ahead log, read without a connection.
///
/// The layout is that of <https://sqlite.org/fileformat2.html#the_write_ahead_log>: a header of 32 bytes, then frames, each
/// a header of 24 bytes and a page. Both headers have the log's two salts. A writer begins a log again from its start, without
/// cutting it: the first salt is then one more than that of the frames from before.
package struct SQLiteLogFile {
  /// What a log begins with.
  package enum Beginning {
    /// A whole transaction.
    case transaction
    /// Nothing whole, over frames of before: a writer was ended as it began the log again.
    case restart
    /// Neither of the two: the log is missing, empty, cut short or overwritten, and SQLite reads nothing from it.
    case nothing
  }

  private static let headerSize = 32
  private static let frameHeaderSize = 24

  private let handle: FileHandle
  /// The bytes of a page.
  private let pageSize: Int
  /// The two salts, as the header and each frame have them.
  private let salts: Data
  /// Whether checksums add big-endian numbers.
  private let isBigEndian: Bool
  /// The checksum up to here; each frame goes on with it.
  private var sum: (UInt32, UInt32) = (0, 0)

  /// Finds out what the log at a path begins with. Costs a read of the first transaction, and, unless that is whole, of the
  /// headers of the frames up to the first one from before.
  package static func beginning(of path: String) -> Beginning {
    guard var log = SQLiteLogFile(path) else { return .nothing }
    defer { try? log.handle.close() }
    if log.hasTransaction() { return .transaction }
    return log.hasOldFrame() ? .restart : .nothing
  }

  /// Whether the log's whole transactions have each page of a range. Costs a read of the log.
  package static func hasPages(_ pages: Range<Int>, at path: String) -> Bool {
    guard var log = SQLiteLogFile(path) else { return pages.isEmpty }
    defer { try? log.handle.close() }
    // SQLite never writes the page with its lock bytes, at 1 GiB.
    let lockPage = 0x4000_0000 / log.pageSize + 1
    // A damaged file may claim to have any number of pages.
    let size = (try? log.handle.seekToEnd()) ?? 0
    let frameLimit = Int(size) / (frameHeaderSize + log.pageSize)
    guard pages.count - (pages.contains(lockPage) ? 1 : 0) <= frameLimit else { return false }
    var missing = Set(pages)
    missing.remove(lockPage)
    guard (try? log.handle.seek(toOffset: UInt64(headerSize))) != nil else { return false }
    // Those of a transaction count once its last frame is there.
    var open: Set<Int> = []
    while !missing.isEmpty, let frame = log.nextFrame() {
      open.insert(Int(frame.number(at: 0)))
      if frame.number(at: 4) > 0 {
        missing.subtract(open)
        open = []
      }
    }
    return missing.isEmpty
  }

  /// Reads the header; nil unless it is whole.
  private init?(_ path: String) {
    // No lock is held on a log, so that closing it releases none: those of a store are on its file and its index.
    guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
    self.handle = handle
    guard let header = try? handle.read(upToCount: Self.headerSize),
      header.count == Self.headerSize,
      header.number(at: 0) & ~1 == 0x377f_0682
    else {
      try? handle.close()
      return nil
    }
    isBigEndian = header.number(at: 0) & 1 == 1
    pageSize = Int(header.number(at: 8))
    salts = header[16..<24]
    add(header[..<24])
    guard sum == (header.number(at: 24), header.number(at: 28)), (512...65_536).contains(pageSize)
    else {
      try? handle.close()
      return nil
    }
  }

  /// Reads frames up to the first one that ends a transaction; false if one before it does not belong to the log.
  private mutating func hasTransaction() -> Bool {
    while let frame = nextFrame() {
      // The size of the database after the transaction, in its last frame.
      if frame.number(at: 4) > 0 { return true }
    }
    return false
  }

  /// Reads a frame, its page included; nil if it is not whole, or not one of this log.
  private mutating func nextFrame() -> Data? {
    guard let frame = try? handle.read(upToCount: Self.frameHeaderSize + pageSize),
      frame.count == Self.frameHeaderSize + pageSize, frame[8..<16].elementsEqual(salts)
    else { return nil }
    add(frame[..<8])
    add(frame[Self.frameHeaderSize...])
    return sum == (frame.number(at: 16), frame.number(at: 20)) ? frame : nil
  }

  /// Whether any frame is one of the log before this beginning.
  private func hasOldFrame() -> Bool {
    let old = salts.number(at: 0) &- 1
    var isFound = false
    forEachFrame { header in
      isFound = header.number(at: 8) == old
      return !isFound
    }
    return isFound
  }

  /// Calls a body with the header of each frame, from the first one on, until it returns false.
  private func forEachFrame(_ body: (Data) -> Bool) {
    var offset = UInt64(Self.headerSize)
    while (try? handle.seek(toOffset: offset)) != nil,
      let header = try? handle.read(upToCount: Self.frameHeaderSize),
      header.count == Self.frameHeaderSize, body(header)
    {
      offset += UInt64(Self.frameHeaderSize + pageSize)
    }
  }

  /// Adds bytes, a multiple of eight, to the checksum.
  private mutating func add(_ bytes: Data) {
    for offset in stride(from: 0, to: bytes.count, by: 8) {
      var (first, second) = (bytes.number(at: offset), bytes.number(at: offset + 4))
      if !isBigEndian { (first, second) = (first.byteSwapped, second.byteSwapped) }
      sum.0 = sum.0 &+ first &+ sum.1
      sum.1 = sum.1 &+ second &+ sum.0
    }
  }
}

extension Data {
  /// The big-endian number of four bytes at an offset from the start.
  fileprivate func number(at offset: Int) -> UInt32 {
    self[(startIndex + offset)..<(startIndex + offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
