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

  @Test func `the name is made durable once for each file`() throws {
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

  @Test func `a new file is synced before it gets the name`() throws {
    let made = try calls { _ = try LineLog(url, disk: $0) }
    #expect(made == ["create", "write", "sync file", "rename"])
    let compacted = try calls { disk in
      let log = try LineLog(url, disk: disk)
      try log.append("12345678")
      try log.compact()
    }
    #expect(compacted == ["create", "write", "write", "sync file", "rename"])
  }

  /// One stayed open with each flush that met a journal that another program had just emptied.
  @Test(arguments: [0, 4, 8, 100])
  func `a flush that meets a journal that was cut off leaves no file open`(size: Int) throws {
    let log = try LineLog(url)
    try log.append("one")
    let disk = CountingDisk()
    let flusher = JournalFlusher(path: url.filePath, disk: disk)
    #expect(truncate(url.filePath, size) == 0)
    for _ in 0..<3 {
      let error = #expect(throws: FileError.self) { try flusher.flush() }
      #expect(error?.code == .damaged)
    }
    #expect(disk.openCount.load(ordering: .relaxed) == 0)
    withExtendedLifetime(log) {}
  }

  /// A flush succeeded, and whoever opened the file next read nothing behind the record.
  @Test(arguments: 0..<5)
  func `a flush finds a record that another program has overwritten`(number: Int) throws {
    let log = try LineLog(url)
    let lines = (0..<5).map { "line \($0)" }
    for line in lines { try log.append(line) }
    try log.journal.flush()
    let place = try #require(
      Data(contentsOf: url).range(of: Data(lines[number].utf8))
    ).lowerBound
    let file = try FileHandle(forWritingTo: url)
    try file.seek(toOffset: UInt64(place))
    try file.write(contentsOf: Data("LINE".utf8))
    try file.close()
    try log.append("late")
    let error = #expect(throws: FileError.self) { try log.journal.flush() }
    #expect(error?.code == .damaged)
    try log.compact()
    try log.journal.flush()
    #expect(try LineLog(url).lines == lines + ["late"])
  }

  @Test func `flushing says when the file is gone`() throws {
    let log = try LineLog(url)
    let flusher = log.journal.flusher
    try FileManager.default.removeItem(at: url)
    let failure = #expect(throws: FileError.self) { try flusher.flush() }
    #expect(failure?.code == .notFound)
  }
}

/// A disk that counts the files that are open.
private final class CountingDisk: ForwardingDisk {
  let real = POSIXDisk()
  let openCount = Atomic(0)

  func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> Int32 {
    let descriptor = try real.open(path, flags, mode: mode)
    openCount.add(1, ordering: .relaxed)
    return descriptor
  }
  func close(_ descriptor: Int32) {
    openCount.subtract(1, ordering: .relaxed)
    real.close(descriptor)
  }
}
