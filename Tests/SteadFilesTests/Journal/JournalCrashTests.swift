import Foundation
import Testing

@testable import SteadFiles

/// What a process leaves behind that ends in the midst of its work.
@Suite(.ownThread) struct JournalCrashTests {
  let directory: TemporaryDirectory
  let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("a.journal")
  }

  // MARK: Each step of the disk as the last one

  @Test func `every step of a creation may be its last`() throws {
    var crashes = 0
    while true {
      let url = directory.file("made/for/\(crashes)/a.journal")
      let disk = CrashingDisk(after: crashes)
      do {
        _ = try LineLog(url, disk: disk, initial: ["initial"])
        break
      } catch is CrashingDisk.Crash {
        let next = try LineLog(url, initial: ["initial"])
        #expect(next.lines == ["initial"] && next.damages.isEmpty, "after \(disk.calls)")
        let names = try FileManager.default.contentsOfDirectory(
          atPath: url.deletingLastPathComponent().filePath)
        #expect(names == ["a.journal"])
        crashes += 1
      }
    }
    #expect(crashes >= 6, "make directory, sync it, create, write, sync, rename")
  }

  @Test func `every step of a compaction may be its last`() throws {
    var crashes = 0
    var expected = ["initial"]
    _ = try LineLog(url, initial: expected)
    let witness = try LineLog(url)
    while true {
      let disk = CrashingDisk(after: crashes)
      do {
        let log = try LineLog(url, disk: disk)
        expected.append("before \(crashes)")
        try log.append("before \(crashes)")
        try log.compact()
        #expect(disk.calls.suffix(2) == ["sync file", "rename"])
        break
      } catch is CrashingDisk.Crash {
        #expect(!disk.calls.contains("rename"), "nothing that can fail comes behind it")
        expected.append("after \(crashes)")
        try witness.append("after \(crashes)")
        #expect(witness.lines == expected && witness.damages.isEmpty)
        #expect(try LineLog(url).lines == expected)
        crashes += 1
      }
    }
    #expect(crashes >= 7, "create, remove what was left, create, writes, sync, rename")
    try witness.refresh()
    #expect(witness.lines == expected)
    #expect(try directory.names == ["a.journal"])
  }

  @Test func `every step of a repair may be its last`() throws {
    let log = try LineLog(url, initial: ["initial"])
    try log.append("first")
    try log.append("second")
    var bytes = try Data(contentsOf: url)
    bytes[4096 + 8 + 16 + 8] ^= 1
    var crashes = 0
    while true {
      try? FileManager.default.removeItem(at: url)
      try bytes.write(to: url)
      let disk = CrashingDisk(after: crashes)
      do {
        #expect(try LineLog(url, disk: disk).lines == ["initial", "first"])
        break
      } catch is CrashingDisk.Crash {
        let next = try LineLog(url)
        #expect(next.lines == ["initial", "first"], "after \(disk.calls)")
        #expect(next.damages.map(\.kind) == [.log])
        let aside = try #require(next.damages.first?.keptAside)
        #expect(try Data(contentsOf: aside).count == bytes.count)
        crashes += 1
      }
    }
    #expect(crashes >= 7, "link, create, three writes, sync, rename")
  }

  // MARK: Between two stores to memory

  /// Changes a word of the file as a store to the mapping would.
  private func setTail(_ change: (UInt64) -> UInt64) throws {
    let descriptor = Foundation.open(url.filePath, O_RDWR)
    defer { close(descriptor) }
    var word: UInt64 = 0
    try #require(pread(descriptor, &word, 8, 1024) == 8)
    word = change(word)
    try #require(pwrite(descriptor, &word, 8, 1024) == 8)
  }

  @Test func `a record that was completed but not yet counted is adopted`() throws {
    let log = try LineLog(url)
    try log.append("first")
    try log.append("second")
    // As a writer leaves it that is killed before it moves the tail.
    try setTail { $0 - 16 }
    let reader = try LineLog(url, access: .readOnly)
    #expect(reader.lines == ["first"])
    #expect(try LineLog(url).lines == ["first", "second"])
    try reader.refresh()
    #expect(reader.lines == ["first", "second"])
  }

  @Test func `those who have the file open adopt what a killed writer completed`() throws {
    let log = try LineLog(url)
    let other = try LineLog(url)
    try log.append("first")
    try other.refresh()
    try log.append("second")
    try setTail { $0 - 16 }
    try other.append("third")
    #expect(other.lines == ["first", "second", "third"])
    #expect(try LineLog(url).lines == other.lines)
  }

  @Test func `what was begun and not completed is written over`() throws {
    let log = try LineLog(url)
    try log.append("first")
    // A length, and half of a payload.
    let descriptor = Foundation.open(url.filePath, O_RDWR)
    var junk: [UInt64] = [0x1234_5678_0000_0014, 0x4141_4141_4141_4141]
    try #require(pwrite(descriptor, &junk, 16, 4096 + 16) == 16)
    close(descriptor)
    #expect(try LineLog(url, access: .readOnly).lines == ["first"])
    try log.append("2")
    let next = try LineLog(url)
    #expect(next.lines == ["first", "2"] && next.damages.isEmpty)
  }

  @Test func `what a broken-off append left is never taken for a record`() throws {
    let log = try LineLog(url)
    try log.append("first")
    try log.append("second")
    // As if both were the payload of one record that was being written when its writer was killed: the
    // second one is whole, and lies where the record after the next one will begin.
    try setTail { $0 - 32 }
    let descriptor = Foundation.open(url.filePath, O_RDWR)
    var zero: UInt64 = 0
    try #require(pwrite(descriptor, &zero, 8, 4096) == 8)
    close(descriptor)
    try LineLog(url).append("other")
    #expect(try LineLog(url).lines == ["other"])
  }

  @Test func `a compactor that died before the renaming is forgotten`() throws {
    let reader = try LineLog(url)
    let writer = try LineLog(url)
    try setTail { $0 | 1 << 62 }
    #expect(reader.journal.hasNews)
    try reader.refresh()
    #expect(!reader.journal.hasNews && reader.checkpointCount == 1)
    try setTail { $0 | 1 << 62 }
    try writer.append("one")
    try reader.refresh()
    #expect(reader.lines == ["one"] && reader.checkpointCount == 1)
  }

  @Test func `a compactor that died right after the renaming is followed`() throws {
    let reader = try LineLog(url)
    let watcher = try LineLog(url, access: .readOnly)
    let writer = try LineLog(url)
    try setTail { $0 | 1 << 62 }
    let replacement = directory.file("b.journal")
    _ = try LineLog(replacement, initial: ["compacted"])
    try POSIXDisk().rename(replacement.filePath, to: url.filePath)

    try writer.append("one")
    for log in [reader, watcher] {
      #expect(log.journal.hasNews)
      try log.refresh()
      #expect(log.lines == ["compacted", "one"] && log.checkpointCount == 2)
    }
    #expect(try LineLog(url).lines == ["compacted", "one"])
  }

  // MARK: Killed

  @Test(.exitTests) func `a compactor killed right after the renaming is followed`() async throws {
    let reader = try LineLog(url)
    let writer = try LineLog(url)
    let path = url.filePath
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      var disk = UnsyncedDisk()
      disk.didRename = { kill(getpid(), SIGKILL) }
      let log = try LineLog(URL(filePath: path), disk: disk)
      try log.append("one")
      try log.compact()
    }
    try writer.append("two")
    #expect(writer.lines == ["one", "two"] && writer.checkpointCount == 2)
    #expect(reader.journal.hasNews)
    try reader.refresh()
    #expect(reader.lines == ["one", "two"] && reader.checkpointCount == 2)
    #expect(try LineLog(url).lines == ["one", "two"])
  }

  @Test(.exitTests, .hangLimit)
  func `killed writers lose nothing that they were told`() async throws {
    let path = url.filePath
    let acknowledged = directory.file("acknowledged").filePath
    try Data(count: 8).write(to: URL(filePath: acknowledged))
    for round in 0..<60 {
      let (delay, interval) = (UInt32(round * 400), [40, 900][round % 2])
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          path = path as String, acknowledged = acknowledged as String, delay = delay as UInt32,
          interval = interval as Int
        ] in
        let log = try LineLog(URL(filePath: path))
        let descriptor = Foundation.open(acknowledged, O_WRONLY)
        Thread.detachNewThread {
          usleep(delay)
          kill(getpid(), SIGKILL)
        }
        var number = log.lines.last.flatMap { Int($0) } ?? 0
        while true {
          number += 1
          try log.append("\(number)")
          pwrite(descriptor, &number, 8, 0)
          if number % interval == 0 { try log.compact() }
        }
      }
      let log = try LineLog(url)
      #expect(log.damages.isEmpty)
      #expect(log.lines == (1..<(log.lines.count + 1)).map { "\($0)" })
      let told = try Data(contentsOf: URL(filePath: acknowledged))
        .withUnsafeBytes { $0.load(as: Int.self) }
      #expect(log.lines.count >= told, "round \(round)")
    }
    try LineLog(url).compact()
    #expect(try directory.names == ["a.journal", "acknowledged"])
  }
}
