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

  @Test(.hangLimit)
  func fourWritersLoseNothingAndReadersSeeEachInOrder() async throws {
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

  @Test(.hangLimit)
  func ofProcessesThatMakeTheFileAtOnceOneWins() async throws {
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

  @Test func aForkedChildGoesOnWhereItsParentWas() async throws {
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

  @Test func parentAndChildKeepEachOtherOut() async throws {
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
