import Foundation
import Synchronization
import Testing

@testable import SteadFiles

/// Compactions whose slow part keeps nobody waiting.
@Suite struct JournalCompactionTests {
  let directory: TemporaryDirectory
  let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("a.journal")
  }

  /// A reader that finds damage skips to the tail, which a program that overwrites the file may have put behind its end. The
  /// background compaction of one of three programs whose journal was cut off trapped there.
  @Test func `records behind the end of the file are not copied`() throws {
    let log = try LineLog(url)
    try log.append("1")
    let (file, header) = (log.journal.file, log.journal.header)
    for end in [file.byteCount + 8, Int.max - 7] {
      let records = JournalDraft.Records(of: file, seed: header.seed, in: header.logStart..<end)
      #expect { try records.sealed(seed: 1, path: "") } throws: {
        ($0 as? FileError)?.code == .changed
      }
    }
  }

  @Test func `what is appended meanwhile is kept`() throws {
    let log = try LineLog(url)
    let other = try LineLog(url)
    try log.append("one", "two")
    let prepared = try log.compaction().prepare()
    try log.append("three")
    try other.append("four", String(repeating: "x", count: 50_000))
    #expect(try log.finish(prepared))
    #expect(log.lines.count == 5 && log.checkpointCount == 1 && !log.journal.hasNews)
    #expect(other.journal.hasNews)
    try other.append("six")
    try log.refresh()
    #expect(log.lines == other.lines && log.lines.count == 6)
    #expect(other.checkpointCount == 2)
    let next = try LineLog(url)
    #expect(next.lines == log.lines && next.damages.isEmpty)
    try log.journal.write(catchingUp: { _ in }) { #expect($0.checkpointByteCount == 7) }
    #expect(try directory.names == ["a.journal"])
  }

  @Test func `another compaction meanwhile wins`() throws {
    let log = try LineLog(url)
    let other = try LineLog(url)
    try log.append("one")
    let prepared = try log.compaction().prepare()
    try other.append("two")
    try other.compact()
    #expect(try !log.finish(prepared))
    #expect(log.lines == ["one", "two"])
    #expect(try directory.names == ["a.journal"])
    let again = try log.compaction().prepare()
    #expect(try log.finish(again))
    #expect(try !log.finish(again), "a file takes a place once")
    #expect(try LineLog(url).lines == ["one", "two"])
  }

  @Test func `what is not finished goes`() throws {
    let log = try LineLog(url)
    var prepared: PreparedJournalCompaction? = try log.compaction().prepare()
    #expect(try directory.names == ["a.journal", ".a.journal.stead-0"])
    #expect(prepared != nil)
    prepared = nil
    #expect(try directory.names == ["a.journal"])
  }

  @Test(arguments: [false, true])
  func `only what was flushed is synced again`(isFlushed: Bool) throws {
    _ = try LineLog(url)
    let disk = CrashingDisk(after: .max)
    let log = try LineLog(url, disk: disk)
    let prepared = try log.compaction().prepare()
    try log.append("one")
    if isFlushed { try LineLog(url).journal.flush() }
    let before = disk.calls.count
    #expect(try log.finish(prepared))
    #expect(disk.calls[before...] == (isFlushed ? ["sync file", "rename"] : ["rename"]))
  }

  @Test func `every step may be the last`() throws {
    var crashes = 0
    var expected: [String] = []
    let witness = try LineLog(url)
    while true {
      let disk = CrashingDisk(after: crashes)
      do {
        let log = try LineLog(url, disk: disk)
        let prepared = try log.compaction().prepare()
        expected.append("meanwhile \(crashes)")
        try witness.append("meanwhile \(crashes)")
        try witness.journal.flush()
        #expect(try log.finish(prepared))
        break
      } catch is CrashingDisk.Crash {
        expected.append("after \(crashes)")
        try witness.append("after \(crashes)")
        #expect(witness.lines == expected && witness.damages.isEmpty)
        #expect(try LineLog(url).lines == expected)
        crashes += 1
      }
    }
    #expect(crashes >= 7, "create, remove what was left, create, writes, sync, sync, rename")
    try witness.refresh()
    #expect(witness.lines == expected)
    #expect(try directory.names == ["a.journal"])
  }

  @Test(.needs(.smallDisk))
  func `a disk that is full when it is finished`() throws {
    let disk = try SmallDisk()
    let log = try LineLog(disk.directory.file("a"))
    let prepared = try log.compaction().prepare()
    for _ in 0..<80 { try log.append(String(repeating: "x", count: 1_000)) }
    try disk.fill(leaving: 4_096)
    let failure = #expect(throws: FileError.self) { _ = try log.finish(prepared) }
    #expect(failure?.code == .noSpace)
    #expect(!log.journal.hasNews)
    #expect(try LineLog(disk.directory.file("a")).lines == log.lines)
    #expect(try disk.directory.names == ["a", "filler"])
  }

  @Test(.exitTests, .hangLimit)
  func `processes that compact behind their writers lose nothing`() async throws {
    let path = url.filePath
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, writer = writer as Int] in
            // Guarded by the lock; the compactor's thread is waited for.
            nonisolated(unsafe) let log = try LineLog(URL(filePath: path))
            let lock = NSLock()
            let isDone = Atomic(false)
            let hasEnded = DispatchSemaphore(value: 0)
            let compactor = Thread {
              while !isDone.load(ordering: .acquiring) {
                let compaction = lock.withLock { log.compaction() }
                guard let prepared = try? compaction.prepare() else { continue }
                _ = try? lock.withLock { try log.finish(prepared) }
              }
              hasEnded.signal()
            }
            compactor.start()
            for number in 0..<1_500 {
              try lock.withLock { try log.append("\(writer) \(number)") }
            }
            isDone.store(true, ordering: .releasing)
            hasEnded.wait()
          }
        }
      }
    }
    let lines = try LineLog(url).lines
    for writer in 0..<3 {
      let found = lines.filter { $0.hasPrefix("\(writer) ") }
      #expect(found == (0..<1_500).map { "\(writer) \($0)" })
    }
  }
}
