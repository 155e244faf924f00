import Foundation
import SteadTestSupport
import Testing

@testable import SteadFiles

/// A journal whose file cannot lose its name, as a mount point can't: its contents are replaced.
///
/// Such a journal was never compacted, and grew without limit.
struct JournalRewritingTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("a.journal") }

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  private static let expected = ["1", "2", "3", "4"]

  /// A journal with four lines, as the first checkpoint and three records have it.
  private func makeLog() throws -> LineLog {
    try? FileManager.default.removeItem(at: url)
    let log = try LineLog(url, initial: ["1"])
    try log.append("2", "3", "4")
    return log
  }

  @Test func `a compaction leaves the file its name`() throws {
    let old = try makeLog()
    let number = try status().identity
    let log = try LineLog(url, disk: MountingDisk(url.filePath))
    for round in 0..<100 {
      try log.append("line \(round)")
      try log.compact()
      #expect(log.journal.logByteCount == 0)
      try old.append("theirs \(round)")
    }
    #expect(try status().identity == number)
    #expect(try status().size == 16_384)
    try log.refresh()
    #expect(log.lines == old.lines && log.lines.count == 204)
    #expect(log.damages.isEmpty && old.damages.isEmpty)
    #expect(try LineLog(url).lines == log.lines)
    #expect(try directory.names == ["a.journal"])
  }

  @Test func `a prepared compaction takes the records with it`() throws {
    let other = try makeLog()
    let log = try LineLog(url, disk: MountingDisk(url.filePath))
    let prepared = try log.compaction().prepare()
    try other.append("5")
    #expect(try log.finish(prepared))
    try log.append("6")
    try other.refresh()
    #expect(other.lines == Self.expected + ["5", "6"])
    #expect(try LineLog(url).lines == other.lines)
  }

  /// Of each of the steps, which end with a sync: the draft's, the image's, that of its place, the copy's, the end's.
  @Test(arguments: 0..<6, [false, true])
  func `every step may be the last`(step: Int, isOpen: Bool) throws {
    let other = try makeLog()
    do {
      let disk = MountingDisk(url.filePath)
      let log = try LineLog(url, disk: disk)
      disk.failAfter(step)
      let isDone = (try? log.compact()) != nil
      #expect(isDone == (step == 5))
    }
    let log = isOpen ? other : try LineLog(url)
    try log.refresh()
    #expect(log.lines == Self.expected && log.damages.isEmpty)
    try log.append("5")
    try other.refresh()
    #expect(other.lines == Self.expected + ["5"])
    #expect(try LineLog(url).lines == other.lines)
    #expect(try LineLog(url, access: .readOnly).lines == other.lines)
  }

  /// A process is killed while it copies, and leaves any of the bytes old, new or neither.
  @Test(arguments: [false, true]) func `a copy that breaks off is made again`(isOpen: Bool) throws {
    var random = SplitMix(seed: 11)
    for _ in 0..<Effort.times(50) {
      let other = try makeLog()
      do {
        let disk = MountingDisk(url.filePath)
        let log = try LineLog(url, disk: disk)
        disk.failAfter(2)
        _ = try? log.compact()
      }
      var bytes = try Data(contentsOf: url)
      let image = try #require(wholeImage(in: bytes))
      // The page says where the image is.
      let kept = JournalLayout.image..<(JournalLayout.imageChecksum + 8)
      for offset in 0..<image.count where !kept.contains(offset) && offset / 8 * 8 != 1024 {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[offset] = image[offset]
        case 1 where offset >= JournalLayout.headerByteCount: bytes[offset] = 0xAA
        default: break
        }
      }
      let file = try FileHandle(forWritingTo: url)
      try file.write(contentsOf: bytes)
      try file.close()
      let reader = try LineLog(url, access: .readOnly)
      #expect(reader.lines == Self.expected && reader.damages.isEmpty)
      let log = isOpen ? other : try LineLog(url)
      try log.append("5")
      #expect(log.lines == Self.expected + ["5"] && log.damages.isEmpty)
      try reader.refresh()
      #expect(reader.lines == log.lines && reader.damages.isEmpty)
      #expect(try LineLog(url).lines == log.lines)
    }
  }

  /// Nobody who had the file open, however long ago, takes the new contents for those of a backup.
  @Test(arguments: [1, JournalLineage.limit + 2])
  func `who has the file open finds the new contents`(compactions: Int) throws {
    let others = try [makeLog(), LineLog(url), LineLog(url, access: .readOnly)]
    let log = try LineLog(url, disk: MountingDisk(url.filePath))
    for round in 0..<compactions {
      try log.append("line \(round)")
      try log.compact()
    }
    for other in others {
      try other.refresh()
      #expect(other.lines == log.lines && other.damages.isEmpty)
      try other.journal.flush()
    }
  }

  /// An empty file is told from others by the mount point, which there is none of here.
  @Test(arguments: [100, 4_096, 20_000])
  func `a damaged file is mended in place`(count: Int) throws {
    try Data(count: count).write(to: url)
    let number = try status().identity
    let log = try LineLog(url, disk: MountingDisk(url.filePath), initial: ["1"])
    try log.append("2")
    #expect(log.lines == ["1", "2"])
    #expect(try LineLog(url).lines == log.lines)
    #expect(try status().identity == number)
  }

  private func wholeImage(in bytes: Data) -> Data? {
    bytes.withUnsafeBytes { bytes in
      let words = bytes[JournalLayout.image...].prefix(JournalImageReference.byteCount)
      return JournalImageReference(.init(rebasing: words)).image(in: bytes)
    }
  }

  /// A program that only read went through the whole file at each look until somebody wrote.
  @Test func `new contents that nobody has completed are read once`() throws {
    let other = try makeLog()
    let reader = try LineLog(url, access: .readOnly)
    for round in 1...3 {
      let disk = MountingDisk(url.filePath)
      let log = try LineLog(url, disk: disk)
      try log.append("killed \(round)")
      disk.failAfter(2)
      #expect(throws: FileError.self) { try log.compact() }
      let late = try LineLog(url, access: .readOnly)
      for each in [reader, late] {
        try each.refresh()
        let count = each.checkpointCount
        for _ in 0..<10 where each.journal.hasNews { try each.refresh() }
        try each.look()
        #expect(each.lines == log.lines && each.checkpointCount == count)
      }
    }
    try other.append("last")
    try reader.refresh()
    #expect(reader.lines == other.lines && reader.lines.last == "last")
    #expect(!reader.journal.hasNews && reader.damages.isEmpty)
  }

  private func status() throws -> FileStatus {
    try #require(try POSIXDisk().status(at: url.filePath))
  }
}
