import CForkSupport
import Foundation
import Testing

@testable import SteadFiles

/// One journal, several processes.
@Suite struct JournalProcessTests {
  let directory: TemporaryDirectory
  let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("a.journal")
  }

  @Test(.exitTests, .hangLimit)
  func `four writers lose nothing and readers see each in order`() async throws {
    let path = url.filePath
    let reader = try LineLog(url)
    let watcher = try LineLog(url, access: .readOnly)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, writer = writer as Int] in
            let log = try LineLog(URL(filePath: path))
            for number in 0..<1_000 {
              try log.append("\(writer) \(number)")
              if number % 250 == 200 + writer { try log.compact() }
            }
          }
        }
      }
      var counts = [0, 0]
      while counts != [4_000, 4_000] {
        for (index, log) in [reader, watcher].enumerated() where log.journal.hasNews {
          try log.refresh()
          Self.expectInOrder(log.lines)
          #expect(log.lines.count >= counts[index], "nothing goes away again")
          counts[index] = log.lines.count
        }
        await Task.yield()
      }
      try await group.waitForAll()
    }
    #expect(reader.damages.isEmpty && watcher.damages.isEmpty)
    #expect(try LineLog(url).lines == reader.lines)
    #expect(try directory.names == ["a.journal"])
  }

  private static func expectInOrder(_ lines: [String]) {
    var next = [Int](repeating: 0, count: 4)
    for line in lines {
      let parts = line.split(separator: " ").compactMap { Int($0) }
      guard parts.count == 2, next[parts[0]] == parts[1] else {
        Issue.record("\(line) instead of number \(next)")
        return
      }
      next[parts[0]] += 1
    }
  }

  @Test(.exitTests, .hangLimit)
  func `of processes that make the file at once, one wins`() async throws {
    for round in 0..<3 {
      let path = directory.file("new/\(round)/a.journal").filePath
      await withTaskGroup(of: Void.self) { group in
        for maker in 0..<4 {
          group.addTask {
            await #expect(processExitsWith: .success) {
              [path = path as String, maker = maker as Int] in
              let log = try LineLog(URL(filePath: path), initial: ["made by \(maker)"])
              try log.append("here is \(maker)")
            }
          }
        }
      }
      let lines = try LineLog(URL(filePath: path)).lines
      #expect(lines.count { $0.hasPrefix("made") } == 1 && lines[0].hasPrefix("made"))
      #expect(Set(lines.dropFirst()) == Set((0..<4).map { "here is \($0)" }))
    }
  }

  @Test(.exitTests) func `a forked child goes on where its parent was`() async throws {
    let path = url.filePath
    await #expect(processExitsWith: .success) { [path = path as String] in
      let log = try LineLog(URL(filePath: path))
      try log.append("parent")
      let child = try ForkedChild {
        guard log.journal.hasNews else { throw CocoaError(.featureUnsupported) }
        try log.refresh()
        try log.append("child")
        guard log.lines == ["parent", "child"], log.checkpointCount == 1 else {
          throw CocoaError(.fileReadCorruptFile)
        }
      }
      #expect(child.finish() == 0)
      try log.append("parent again")
      #expect(log.lines == ["parent", "child", "parent again"])
    }
    #expect(try LineLog(url).lines == ["parent", "child", "parent again"])
  }

  /// The child continued at its parent's position, since a copy has the same salt. So it never read the records there, and
  /// would have appended behind them.
  @Test(.exitTests, arguments: [Journal.Access.readWrite, .readOnly])
  func `a child reads a copy with other records from its beginning`(access: Journal.Access)
    async throws
  {
    let (path, isReadOnly) = (url.filePath, access == .readOnly)
    await #expect(processExitsWith: .success) {
      [path = path as String, isReadOnly = isReadOnly as Bool] in
      let (url, copy) = (URL(filePath: path), URL(filePath: path + ".copy"))
      let writer = try LineLog(url)
      try writer.append("1")
      try FileManager.default.copyItem(at: url, to: copy)
      try LineLog(copy).append("x", "y")
      try writer.append("2", "3")
      let log = try LineLog(url, access: isReadOnly ? .readOnly : .readWrite)
      let child = try ForkedChild {
        guard rename(copy.filePath, path) == 0 else { stead_test_exit(2) }
        try log.refresh()
        guard log.lines == ["1", "x", "y"] else { stead_test_exit(3) }
        guard log.journal.isRecovering != isReadOnly else { stead_test_exit(4) }
      }
      exit(child.finish())
    }
  }

  /// A child knows which record it has read last, as its parent did.
  @Test(.exitTests) func `a child finds a file overwritten whose last record is another one`()
    async throws
  {
    let path = url.filePath
    await #expect(processExitsWith: .success) { [path = path as String] in
      let log = try LineLog(URL(filePath: path))
      try log.append("1", "2")
      let (last, word) = (log.journal.lastRecord, log.journal.lastWord)
      let child = try ForkedChild {
        try log.refresh()
        guard log.journal.lastRecord == last, log.journal.lastWord == word else {
          stead_test_exit(2)
        }
        try log.append("3")
        guard log.lines == ["1", "2", "3"] else { stead_test_exit(3) }
      }
      exit(child.finish())
    }
  }

  /// A child took a file of its parent for its own, overwritten: it had the number of the one that was open at
  /// the fork, which was gone. The child then replaced it, with all that the parent had written.
  @Test(.exitTests) func `a child knows its parent's file from another with the same number`()
    async throws
  {
    let path = url.filePath
    await #expect(processExitsWith: .success) { [path = path as String] in
      let log = try LineLog(URL(filePath: path))
      try log.append("before")
      let first = log.journal.file.identity
      let go = Pipe()
      let child = try ForkedChild {
        _ = try go.fileHandleForReading.read(upToCount: 1)
        try log.append("child")
      }
      // Most file systems give a number again at once.
      for number in 0..<20 where number == 0 || log.journal.file.identity != first {
        try log.append("parent \(number)")
        try log.compact()
      }
      // As a writer leaves it that is killed while it compacts: it takes the lock to open that.
      let mark = log.journal.position | JournalLayout.compacting
      log.journal.file.setWord(mark, at: JournalLayout.tail)
      try go.fileHandleForWriting.write(contentsOf: Data([0]))
      let status = child.finish()
      guard status == 0 else { exit(status) }
      try log.append("after")
    }
    let lines = try LineLog(url).lines
    #expect(lines.first == "before" && lines.suffix(2) == ["child", "after"], "\(lines)")
    #expect(lines.contains("parent 0"))
  }

  @Test(.exitTests) func `parent and child keep each other out`() async throws {
    let path = url.filePath
    await #expect(processExitsWith: .success) { [path = path as String] in
      let log = try LineLog(URL(filePath: path))
      try log.append("before")
      // With the parent's open file, the child would have the lock whenever the parent has it.
      let child = try ForkedChild {
        for number in 0..<3_000 { try log.append("child \(number)") }
      }
      for number in 0..<3_000 {
        try log.append("parent \(number)")
        if number % 500 == 0 { try log.compact() }
      }
      #expect(child.finish() == 0)
    }
    let lines = try LineLog(url).lines
    for name in ["child", "parent"] {
      #expect(lines.filter { $0.hasPrefix(name) } == (0..<3_000).map { "\(name) \($0)" })
    }
    #expect(lines.count == 6_001)
  }
}
