import Foundation
import Synchronization
import Testing

@testable import SteadFiles

/// What is made durable, and when.
@Suite struct JournalFlushTests {
  let directory: TemporaryDirectory
  let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("a.journal")
  }

  private func calls(_ body: (any Disk) throws -> Void) throws -> [String] {
    let disk = CrashingDisk(after: .max)
    try body(disk)
    return disk.calls
  }

  @Test func theNameIsMadeDurableOnceForEachFile() throws {
    let log = try LineLog(url)
    let path = url.filePath
    func flush() throws -> [String] {
      try calls { try JournalFlusher(path: path, disk: $0).flush() }
    }
    #expect(try flush() == ["sync directory"])
    try log.append("one")
    #expect(try flush() == [])
    try log.compact()
    #expect(try flush() == ["sync directory"])
    #expect(try flush() == [])
    #expect(try LineLog(url).lines == ["one"])
  }

  @Test func aNewFileIsSyncedBeforeItGetsTheName() throws {
    let made = try calls { _ = try LineLog(url, disk: $0) }
    #expect(made == ["create", "write", "sync file", "rename"])
    let compacted = try calls { disk in
      let log = try LineLog(url, disk: disk)
      try log.append("12345678")
      try log.compact()
    }
    #expect(compacted == ["create", "write", "write", "sync file", "rename"])
  }

  @Test func flushingSaysWhenTheFileIsGone() throws {
    let log = try LineLog(url)
    let flusher = log.journal.flusher
    try FileManager.default.removeItem(at: url)
    let failure = #expect(throws: FileError.self) { try flusher.flush() }
    #expect(failure?.code == .notFound)
  }
}
