import Foundation
import SteadFiles
import SteadPreferences
import Testing

/// File systems that cannot hold a journal, since they lack `flock` or cannot map files for several processes.
///
/// On the first kind each set once left an empty file, and on the second one nothing was stored. The system's calls fail
/// here as they do there.
@Suite(.needs(.failingCalls), .hangLimit, .ownThread) struct PlainFileSystemTests {
  enum Lack: CaseIterable { case locks, mappings }

  private static func worker(
    _ directory: TemporaryDirectory, _ arguments: [String], _ lack: Lack
  ) throws -> Worker {
    let journal = directory.file("domain.journal").filePath
    let filter =
      switch lack {
      case .locks: ["-e", "trace=flock", "-e", "inject=flock:error=ENOLCK"]
      case .mappings: ["-P", journal, "-e", "trace=mmap", "-e", "inject=mmap:error=ENODEV"]
      }
    return try Worker(
      directory.url, arguments, launcher: ["strace", "-D", "-f", "-qq", "-o", "/dev/null"] + filter)
  }

  @Test(arguments: Lack.allCases)
  func `values are stored in the property list, and shared`(lack: Lack) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let workers = try (0..<2).map { _ in try Self.worker(directory, ["follow"], lack) }
    // What opening finds out is told to the handler of the type, before the object has one.
    for worker in workers { try #require(worker.line() == "ready") }
    for number in 1...20 {
      let (worker, other) = (workers[number % 2], workers[(number + 1) % 2])
      worker.send("set key.\(number % 7) \(number)")
      #expect(worker.line() == "own key.\(number % 7) integer \(number)")
      #expect(other.line() == "other key.\(number % 7) integer \(number)")
    }
    workers[0].send("synchronize")
    #expect(workers[0].line() == "true")
    let expected = Dictionary(uniqueKeysWithValues: (14...20).map { ("key.\($0 % 7)", $0) })
    let data = try Data(contentsOf: directory.file("domain.plist"))
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    #expect(list as? [String: Int] == expected)
    #expect(try directory.names.subtracting(["config"]) == ["domain.plist", "domain.lock"])
    // A program that ends leaves its values to the next one, wherever that is.
    for worker in workers { worker.end() }
    #expect(try Worker.contents(directory.url) == expected.mapValues { "integer \($0)" })
  }

  @Test(arguments: Lack.allCases)
  func `a kill leaves the old property list or the new one`(lack: Lack) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    var last = 0
    for round in 1...5 {
      let worker = try Self.worker(directory, ["follow"], lack)
      while let line = worker.line(), line != "ready" {}
      for number in 1...10 { worker.send("set key \(round * 100 + number)") }
      for _ in 0..<(round * 2 - 1) {
        last = Int(worker.line()?.split(separator: " ").last ?? "") ?? 0
      }
      worker.end()
      let reader = try Self.worker(directory, ["dump"], lack)
      let lines = reader.rest()
      let found = lines.first { $0.hasPrefix("key integer ") }.flatMap { Int($0.dropFirst(12)) }
      #expect((found ?? 0) >= last, "\(lines)")
    }
  }

  // A journal that was there could not be opened where files can't be mapped, and where they can't be locked the values were
  // hidden that it had not published.
  @Test(arguments: Lack.allCases, [false, true])
  func `the values of a journal are found where there can be none`(lack: Lack, isPublished: Bool)
    throws
  {
    let directory = try TemporaryDirectory(inMemory: true)
    let first = try Worker(directory.url, ["follow"])
    var lines = ["set old 1", "set gone 1", "synchronize", "set old 2", "set new 3"]
    if isPublished { lines.append("synchronize") }
    for line in lines { first.send(line) }
    first.endInput()
    _ = first.rest()
    #expect(first.finish() == 0)
    let journal = try Data(contentsOf: directory.file("domain.journal"))
    var expected = ["gone integer 1", "new integer 3", "old integer 2"]
    func found() throws -> [String] {
      try Self.worker(directory, ["dump"], lack).rest().filter { $0.contains(" integer ") }.sorted()
    }
    #expect(try found() == expected)
    for (round, key) in ["once", "old", "twice"].enumerated() {
      let program = try Self.worker(directory, ["set", key, "\(round)"], lack)
      _ = program.rest()
      #expect(program.finish() == 0)
      expected = expected.filter { !$0.hasPrefix("\(key) ") } + ["\(key) integer \(round)"]
      #expect(try found() == expected.sorted())
    }
    // Where the journal can be used again, what was set last counts, even if it is what the journal had before.
    #expect(
      try Data(contentsOf: directory.file("domain.journal")).dropFirst(4_096)
        == journal.dropFirst(4_096))
    let contents = try Worker.contents(directory.url)
    #expect(contents.map { "\($0.key) \($0.value)" }.sorted() == expected.sorted())
  }

  // A program could not get the journal's lock, and left its value in the waiting file. Where the file system was then mounted without
  // locks or mappings, the next program did not look for it.
  @Test(arguments: Lack.allCases)
  func `a value that waits is found where there can be no journal any more`(lack: Lack) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let board = directory.file("board")
    try Data(count: 8).write(to: board)
    let holder = try Worker(directory.url, ["burst", board.filePath])
    // Now and then it is stopped while it doesn't have the lock, and the value goes to the journal.
    var round = 0
    while try !directory.names.contains("domain.waiting") {
      round += 1
      try #require(round < 100)
      let start = try Data(contentsOf: board)
      while try Data(contentsOf: board) == start { sched_yield() }
      kill(holder.id, SIGSTOP)
      holder.waitUntilStopped()
      let program = try Worker(directory.url, ["set", "once", "\(round)"])
      _ = program.rest()
      #expect(program.finish() == 0)
      if try !directory.names.contains("domain.waiting") { holder.resume() }
    }
    holder.end()
    // A journal that cannot be mapped cannot be read either, so the property list alone was copied there.
    if lack == .mappings {
      try FileManager.default.removeItem(at: directory.file("domain.journal"))
    }
    for _ in 0..<2 {
      let lines = try Self.worker(directory, ["dump"], lack).rest()
      #expect(lines.contains("once integer \(round)"), "\(lines)")
      #expect(try !directory.names.contains("domain.waiting"))
    }
  }
}

extension PlainFileSystemTests {
  /// It was in memory alone, and a program that set it and ended lost it.
  @Test(arguments: Lack.allCases)
  func `a value that is set while a stopped process has the lock is not lost`(lack: Lack) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    func set(_ key: String, _ number: Int) throws -> [String] {
      let program = try Self.worker(directory, ["set", key, "\(number)"], lack)
      let lines = program.rest()
      #expect(program.finish() == 0)
      return lines
    }
    _ = try set("old", 1)
    let lock = PlainFile(directory.file("domain.plist"), lock: directory.file("domain.lock"))
    try lock.withLock {
      for number in 1...3 {
        let lines = try set("once.\(number % 2)", number)
        #expect(lines.contains { $0.contains("domain.waiting") }, "\(lines)")
      }
      // In effect for whoever begins now.
      let found = try Self.worker(directory, ["dump"], lack).rest()
      #expect(found.contains("once.1 integer 3") && found.contains("once.0 integer 2"))
    }
    #expect(try set("new", 1).allSatisfy { !$0.contains("waiting") })
    let data = try Data(contentsOf: directory.file("domain.plist"))
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    #expect(list as? [String: Int] == ["old": 1, "once.0": 2, "once.1": 3, "new": 1])
    #expect(try !directory.names.contains("domain.waiting"))
  }
}

extension Requirement {
  static let failingCalls = Requirement(
    (try? ToolRun.text([
      "strace", "-D", "-qq", "-o", "/dev/null", "-e", "inject=flock:error=ENOLCK", "true",
    ])) != nil,
    orElse: "system calls cannot be made to fail: install strace, and allow ptrace")
}
