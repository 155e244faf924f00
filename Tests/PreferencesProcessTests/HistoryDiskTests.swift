import Foundation
import Testing

@testable import SteadPreferences

/// What a history asks of the disk, and what it does when that is full or may not be written.
@Suite(.ownThread) struct HistoryDiskTests {
  private struct Note: Codable, Identifiable, Sendable, Equatable {
    var id: Int
    var text: String

    init(_ id: Int, byteCount: Int = 3_000) {
      self.id = id
      // No two bytes in a row repeat, and none is the same in two notes.
      text = String((0..<byteCount / 10).map { "\(id) \($0)......" }.joined().prefix(byteCount))
    }
  }

  private func open(
    _ directory: URL, options: PayloadHistoryOptions<Note> = .init()
  ) throws -> PayloadHistory<Note> {
    try PayloadHistory(
      "notes", in: try Preferences(domain: "domain", directory: directory), options: options)
  }

  @Test(
    .needs(.smallDisk),
    arguments: [false, true])
  func `a full disk refuses and keeps`(large: Bool) throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    let options = PayloadHistoryOptions<Note>(
      largePayload: .external(over: large ? 1_000 : 64 << 10))
    let history = try open(disk.directory.url, options: options)
    var expected: [Note] = []
    for id in 0..<10 {
      try history.prepend(Note(id))
      expected.insert(Note(id), at: 0)
    }
    try disk.fill(leaving: 64 << 10)
    var refused: PreferencesError?
    for id in 10..<600 where refused == nil {
      do {
        try history.prepend(Note(id))
        expected.insert(Note(id), at: 0)
      } catch let error as PreferencesError {
        refused = error
      }
    }
    #expect(refused?.code == .noSpace, "1.8 MB went on a disk with 64 KB")
    #expect(refused?.key == "notes")
    #expect(history.items == expected)
    #expect(throws: PreferencesError.self) {
      try history.prepend(contentsOf: (600..<700).map { Note($0) })
    }
    #expect(history.items == expected)

    try disk.empty()
    try history.prepend(Note(999))
    expected.insert(Note(999), at: 0)
    #expect(history.items == expected)
    // As an object sees it that has nothing in memory.
    let preferences = try Preferences(
      domain: "domain", directory: disk.directory.url, options: .init(format: .xml))
    #expect(try PayloadHistory<Note>("notes", in: preferences, options: options).items == expected)
  }

  @Test(.needs(.smallDisk))
  func `an array that does not fit twice stays where it is`() throws {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let notes = (0..<100).map { Note($0) }
    let array = try JSONEncoder().encode(notes)
    let preferences = try Preferences(domain: "domain", directory: disk.directory.url)
    try preferences.setPropertyList(.data(array), forKey: "notes")
    // A compaction that ends later would leave more room.
    while preferences.writableDomain.state.withLock({ $0.file?.compaction.phase })
      != DomainFile.BackgroundCompaction.none
    {
      sched_yield()
    }
    try disk.waitForRemovedFiles()
    try disk.fill(leaving: 128 << 10)
    for _ in 0..<2 {
      let error = #expect(throws: PreferencesError.self) {
        _ = try PayloadHistory<Note>("notes", in: preferences)
      }
      #expect(error?.code == .noSpace)
      #expect(preferences.data(forKey: "notes") == array)
    }
    try disk.empty()
    #expect(try PayloadHistory<Note>("notes", in: preferences).items == notes)
    #expect(preferences.data(forKey: "notes") == nil)
  }

  @Test(.needs(.smallDisk))
  func `a read-only disk can be read`() throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    let workers = try (0..<3).map { number in
      try Worker(disk.directory.url, ["history-crowd", "9", "w\(number)", "2", "keeping"])
    }
    for worker in workers {
      try #require(worker.line() == "ready")
      worker.send("go")
      try #require(worker.line() == "done" && worker.finish() == 0)
    }
    let expected = try Worker.messages(disk.directory.url, limit: 9)
    #expect(expected.count == 6)
    try disk.makeReadOnly()
    #expect(try Worker.messages(disk.directory.url, limit: 9) == expected)
    let writer = try Worker(disk.directory.url, ["history-prepend", "9", "w", "1"])
    let lines = writer.rest()
    #expect(lines.prefix(2) == ["ready", "b 1"])
    #expect(lines.last?.hasPrefix("error") == true && writer.finish() == WorkerMain.failureStatus)
  }

  /// A burst is one record, and waits for the disk as often as a single message does.
  @Test(.needs(.tracing))
  func `a burst waits for the disk once`() throws {
    func waits(_ count: Int) throws -> Int {
      let directory = try TemporaryDirectory()
      let log = directory.file("log")
      let worker = try Worker(
        directory.url, ["history-batch", "20000", "\(count)"],
        launcher: [
          "strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,msync", "-o",
          log.filePath,
        ])
      #expect(worker.rest() == ["\(count)"])
      #expect(worker.finish() == 0)
      let text = try String(contentsOf: log, encoding: .utf8)
      return text.split(separator: "\n").count { $0.contains("sync(") }
    }
    let single = try waits(1)
    #expect(single > 0)
    // A domain this large is compacted once, which makes the new journal and the property list durable
    // before they take the places of the old ones.
    #expect(try waits(10_000) <= single + 2)
  }

  @Test(.needs(.noThreadSanitizer))
  func `children of a fork go on with it`() throws {
    let (directory, count) = (try TemporaryDirectory(inMemory: true), 100)
    let worker = try Worker(directory.url, ["history-fork", "10000", "\(count)"])
    #expect(worker.rest() == ["done"])
    #expect(worker.finish() == 0)
    let found = try Worker.messages(directory.url, limit: 10_000)
    let writers = (0..<6).map { "child\($0)" } + ["thread0", "thread1"]
    var expected = Set((0..<6).map { "parent.\($0)" } + (0..<16).map { "before.\($0)" })
    for writer in writers { expected.formUnion((0..<count).map { "\(writer).\($0)" }) }
    #expect(Set(found) == expected && found.count == expected.count)
  }
}
