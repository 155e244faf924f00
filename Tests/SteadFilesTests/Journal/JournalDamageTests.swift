import Foundation
import Testing

@testable import SteadFiles

/// What becomes of a journal whose bytes are not the ones that were written.
@Suite struct JournalDamageTests {
  let directory: TemporaryDirectory
  let url: URL
  let whole: Data
  /// Where each record begins, and where the last one ends.
  let offsets: [Int]

  static let base = ["base one", "base two"]
  static let records = ["a", "second record", "3", "the fourth record", "12345678"]
  static let page = 4096
  static let copyByteCount = 296
  static var lines: [String] { base + records }

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    url = directory.file("a.journal")
    let log = try LineLog(url, initial: Self.base)
    let checkpointByteCount = Self.base.joined(separator: "\n").utf8.count
    var offsets = [Self.page + (checkpointByteCount + 7) / 8 * 8]
    for record in Self.records {
      try log.append(record)
      offsets.append(offsets[offsets.count - 1] + 8 + (record.utf8.count + 7) / 8 * 8)
    }
    whole = try Data(contentsOf: url)
    self.offsets = offsets
  }

  private var aside: URL { directory.file("a.journal.damaged-1") }

  /// Puts bytes in place as a file that nobody has open, and opens it.
  private func open(_ bytes: Data) throws -> LineLog {
    try? FileManager.default.removeItem(at: url)
    try? FileManager.default.removeItem(at: aside)
    try bytes.write(to: url)
    return try LineLog(url, disk: UnsyncedDisk(), initial: ["initial"])
  }

  /// What was reported is aside, and what is in place is good and can be written.
  private func expectMended(_ log: LineLog, from bytes: Data, _ note: Comment) throws {
    let expected = log.lines + ["new"]
    try log.append("new")
    let next = try LineLog(url, disk: UnsyncedDisk())
    #expect(next.lines == expected && next.damages.isEmpty, note)
    let kept = try? Data(contentsOf: aside)
    if log.damages.isEmpty || bytes.isEmpty {
      #expect(kept == nil, note)
    } else {
      // But for the word that tells those who have it open that it was replaced.
      #expect(kept?.count == bytes.count, note)
      #expect(kept?.prefix(1024) == bytes.prefix(1024), note)
      #expect(kept?.dropFirst(1032) == bytes.dropFirst(1032), note)
      #expect(log.damages.allSatisfy { $0.keptAside?.filePath == aside.filePath }, note)
    }
  }

  @Test func `cut off at every byte`() throws {
    for size in 0...(offsets[offsets.count - 1] + 16) {
      let bytes = whole.prefix(size)
      let log = try open(bytes)
      let kinds = log.damages.map(\.kind)
      let note: Comment = "cut to \(size) bytes: \(log.lines) \(kinds)"
      let recordCount = offsets.dropFirst().count { $0 <= size }
      if size == 0 {
        #expect(log.lines == ["initial"] && kinds == [.header], note)
      } else if size < Self.page {
        #expect(log.lines == ["repaired"], note)
        #expect(kinds == [.header], note)
      } else if size < offsets[0] {
        #expect(log.lines == ["repaired"] && kinds == [.log, .checkpoint], note)
      } else if recordCount < Self.records.count {
        #expect(log.lines == Self.base + Self.records.prefix(recordCount) && kinds == [.log], note)
        #expect(log.damages.first?.offset == offsets[recordCount], note)
        let lost = offsets[offsets.count - 1] - offsets[recordCount]
        #expect(log.damages.first?.lostByteCount == lost, note)
      } else {
        #expect(log.lines == Self.lines && kinds.isEmpty, note)
      }
      try expectMended(log, from: bytes, note)
    }
  }

  @Test(arguments: [0x01, 0x80, 0xFF] as [UInt8])
  func `flipped at every byte`(bits: UInt8) throws {
    let checkpointEnd = Self.page + Self.base.joined(separator: "\n").utf8.count
    for place in 0..<(offsets[offsets.count - 1] + 16) {
      // Nothing lies between the words and the checkpoint.
      if (1500..<Self.page).contains(place), place % 64 != 0 { continue }
      var bytes = whole
      bytes[place] ^= bits
      let log = try open(bytes)
      let kinds = log.damages.map(\.kind)
      let note: Comment = "flipped at \(place): \(log.lines) \(kinds)"
      let record = Self.records.indices.first { index in
        (0..<(8 + Self.records[index].utf8.count)).contains(place - offsets[index])
      }
      if let record {
        #expect(log.lines == Self.base + Self.records.prefix(record) && kinds == [.log], note)
        #expect(log.damages.first?.offset == offsets[record], note)
      } else if (Self.page..<checkpointEnd).contains(place) {
        #expect(log.lines == ["repaired"] + Self.records && kinds == [.checkpoint], note)
      } else {
        #expect(log.lines == Self.lines, note)
        #expect(log.damages.allSatisfy { $0.kind == .log || $0.lostByteCount == 0 }, note)
        let isInHeader = place % 512 < Self.copyByteCount && place < 1024
        let isInTail = (1024..<1032).contains(place)
        if !isInTail { #expect(kinds == (isInHeader ? [.header] : []), note) }
      }
      try expectMended(log, from: bytes, note)
    }
  }

  @Test func `both headers damaged is a loss that the owner repairs`() throws {
    var bytes = whole
    bytes[20] ^= 1
    bytes[512 + 40] ^= 1
    let log = try open(bytes)
    #expect(log.lines == ["repaired"] && log.damages.map(\.kind) == [.header])
    #expect(log.damages.first?.lostByteCount == bytes.count)
    try expectMended(log, from: bytes, "both headers")
  }

  @Test(arguments: [1, 7, 4_000, 10_000])
  func `what is no journal is kept aside`(count: Int) throws {
    let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &+ 65) })
    let log = try open(bytes)
    #expect(log.lines == ["repaired"] && log.damages.map(\.kind) == [.notAJournal])
    #expect(try Data(contentsOf: aside) == bytes)
  }

  @Test(arguments: [0, 1, 4096, 20_000])
  func `zeros are reported and begun anew`(count: Int) throws {
    let log = try open(Data(count: count))
    #expect(log.lines == ["initial"] && log.damages.map(\.kind) == [.header])
    #expect(log.damages[0].keptAside == nil && log.damages[0].lostByteCount <= count)
    try log.append("new")
    let next = try LineLog(url)
    #expect(next.lines == ["initial", "new"] && next.damages.isEmpty)
    #expect(try directory.names == ["a.journal"])
  }

  @Test func `a newer format is refused and left alone`() throws {
    var bytes = whole
    for start in [0, 512] { bytes[start + 8] = 2 }
    let failure = #expect(throws: FileError.self) { _ = try open(bytes) }
    #expect(failure?.code == .newerVersion)
    #expect(try Data(contentsOf: url) == bytes)
    #expect(try directory.names == ["a.journal"])
    #expect(throws: FileError.self) { _ = try LineLog(url, access: .readOnly) }
  }

  @Test func `damaged files are kept up to a limit`() throws {
    try FileManager.default.removeItem(at: url)
    for number in 0..<(Journal.keptAsideLimit + 3) {
      let bytes = Data("letter \(number)".utf8)
      try bytes.write(to: url)
      let log = try LineLog(url, disk: UnsyncedDisk())
      #expect(try Data(contentsOf: log.damages[0].keptAside!) == bytes)
      try FileManager.default.removeItem(at: url)
    }
    #expect(try directory.names.count == Journal.keptAsideLimit)
  }

  @Test func `damage is found by those who have the file open`() throws {
    let reader = try open(whole)
    let watcher = try LineLog(url, access: .readOnly)
    let writer = try LineLog(url)
    try writer.append("good", "to be damaged", "behind it")
    let damaged = offsets[offsets.count - 1] + 16
    try flip(at: damaged + 10)

    try reader.refresh()
    #expect(reader.lines == Self.lines + ["good"])
    #expect(reader.damages.map(\.kind) == [.log] && reader.damages[0].offset == damaged)
    // The writer had read all of it, but the file is now the mended one.
    try writer.append("new")
    #expect(writer.lines == Self.lines + ["good", "new"] && writer.damages.isEmpty)
    try reader.refresh()
    #expect(reader.lines == writer.lines)
    try watcher.refresh()
    #expect(watcher.lines == writer.lines)
  }

  @Test func `a reader that may not mend passes over what is damaged`() throws {
    let watcher = try LineLog(url, access: .readOnly)
    try LineLog(url).append("good", "to be damaged", "behind it")
    let damaged = offsets[offsets.count - 1] + 16
    try flip(at: damaged + 10)
    try watcher.refresh()
    #expect(watcher.lines == Self.lines + ["good"])
    #expect(watcher.damages.map(\.kind) == [.log] && watcher.damages[0].keptAside == nil)
    #expect(!watcher.journal.hasNews)
    #expect(try directory.names == ["a.journal"])
  }

  private func flip(at offset: Int) throws {
    let handle = try FileHandle(forUpdating: url)
    try handle.seek(toOffset: UInt64(offset))
    let byte = try handle.read(upToCount: 1)?.first ?? 0
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data([byte ^ 0x10]))
    try handle.close()
  }
}
