import Foundation
import Testing

@testable import SteadFiles

/// A journal on a disk that is full, or that may only be read.
@Suite struct JournalSpaceTests {
  let directory: TemporaryDirectory
  let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("a.journal")
  }

  private let line = String(repeating: "x", count: 900)

  @Test(.needs(.smallDisk))
  func `appends to a full disk fail and go on when there is space`() throws {
    let disk = try SmallDisk()
    let log = try LineLog(disk.directory.file("a"))
    let other = try LineLog(disk.directory.file("a"))
    try disk.fill(leaving: 20_000)
    var failure: FileError?
    while failure == nil {
      do { try log.append(line) } catch let error as FileError { failure = error }
    }
    #expect(failure?.code == .noSpace)
    let count = log.lines.count
    #expect(count > 10)
    for size in [900, 200_000] {
      #expect(throws: FileError.self) { try other.append(String(repeating: "y", count: size)) }
    }
    #expect(other.lines == log.lines)
    #expect(try LineLog(disk.directory.file("a")).lines == log.lines)

    try disk.empty()
    for _ in 0..<30 { try log.append(line) }
    try other.append(line)
    #expect(other.lines.count == count + 31 && other.damages.isEmpty)
    #expect(try LineLog(disk.directory.file("a")).lines == other.lines)
  }

  @Test(.needs(.smallDisk))
  func `compaction on a full disk fails and changes nothing`() throws {
    let disk = try SmallDisk()
    let log = try LineLog(disk.directory.file("a"))
    for _ in 0..<20 { try log.append(line) }
    try disk.fill(leaving: 4_096)
    let failure = #expect(throws: FileError.self) { try log.compact() }
    #expect(failure?.code == .noSpace)
    #expect(!log.journal.hasNews)
    try log.append("short")
    #expect(try LineLog(disk.directory.file("a")).lines == log.lines)
    #expect(try disk.directory.names == ["a", "filler"])

    try disk.empty()
    try log.compact()
    try log.append("after")
    let next = try LineLog(disk.directory.file("a"))
    #expect(next.lines == log.lines && next.damages.isEmpty)
  }

  @Test(.needs(.smallDisk))
  func `a journal that does not fit is not made`() throws {
    let disk = try SmallDisk()
    try disk.fill(leaving: 4_096)
    let failure = #expect(throws: FileError.self) { _ = try LineLog(disk.directory.file("a")) }
    #expect(failure?.code == .noSpace)
    #expect(try disk.directory.names == ["filler"])
  }

  @Test(.needs(.smallDisk))
  func `a file system that may only be read`() throws {
    let disk = try SmallDisk()
    let url = disk.directory.file("a")
    try LineLog(url, initial: ["initial"]).append("one")
    try disk.makeReadOnly()
    let failure = #expect(throws: FileError.self) { _ = try LineLog(url) }
    #expect(failure?.code == .readOnly)
    let watcher = try LineLog(url, access: .readOnly)
    #expect(watcher.lines == ["initial", "one"])
    let missing = try LineLog(disk.directory.file("b"), access: .readOnly, initial: ["stand-in"])
    #expect(missing.lines == ["stand-in"])
  }

  @Test func `reading only changes nothing`() throws {
    let log = try LineLog(url)
    try log.append("one")
    let before = try Data(contentsOf: url)
    let watcher = try LineLog(url, access: .readOnly)
    #expect(watcher.lines == ["one"])
    let failure = #expect(throws: FileError.self) { try watcher.append("two") }
    #expect(failure?.code == .readOnly)
    #expect(throws: FileError.self) { try watcher.journal.listen() }
    watcher.journal.clearNotice()
    try watcher.journal.flush()
    #expect(try Data(contentsOf: url) == before)
    #expect(try directory.names == ["a.journal"])
  }

  @Test func `a reader without a file looks again when asked`() throws {
    let watcher = try LineLog(url, access: .readOnly, initial: ["stand-in"])
    #expect(watcher.lines == ["stand-in"] && !watcher.journal.hasNews)
    try watcher.refresh()
    #expect(watcher.checkpointCount == 1)
    let log = try LineLog(url, initial: ["real"])
    try log.append("one")
    try watcher.refresh()
    #expect(watcher.lines == ["real", "one"])
    try log.append("two")
    #expect(watcher.journal.hasNews)
    #expect(try !directory.names.isEmpty)
  }

  @Test func `limits are errors`() throws {
    let log = try LineLog(url)
    try log.append("one")
    let long = Data(count: Journal.metadataLimit + 1)
    let failure = #expect(throws: FileError.self) { try log.compact(metadata: long) }
    #expect(failure?.code == .tooLarge)
    let size = Journal.recordLimit + 1
    let tooLong = #expect(throws: FileError.self) {
      try log.journal.write(catchingUp: { _ in }) { writer in
        try writer.append(byteCount: size) { _ in Issue.record("asked to write it") }
      }
    }
    #expect(tooLong?.code == .tooLarge)
    try log.append("two")
    #expect(try LineLog(url).lines == ["one", "two"])
  }

  @Test func `a directory is no journal`() throws {
    let failure = #expect(throws: FileError.self) {
      _ = try LineLog(directory.url, access: .readOnly)
    }
    #expect(failure?.code == .notAFile)
  }
}
