import Foundation
import Testing

/// Several processes write into one domain at once, and others read it meanwhile.
struct CrowdTests {
  @Test(arguments: [2, 4, 8])
  func losesNoKey(writers: Int) throws {
    let count = isThreadSanitized ? 100 : 1_000
    let directory = try TemporaryDirectory(inMemory: true)
    let board = directory.file("board")
    try Data(count: writers * 8).write(to: board)
    let writing = try (0..<writers).map { writer in
      try Worker(directory.url, ["write", board.filePath, "\(writer)", "\(count)"])
    }
    let reading = try (0..<2).map { _ in
      try Worker(directory.url, ["read", board.filePath, "\(writers)", "\(count)"])
    }
    let all = writing + reading
    for worker in all { try #require(worker.line() == "ready") }
    for worker in all { worker.send("go") }
    for worker in writing {
      // Readers look until all is written: they would look for ever for one that has ended early.
      let lines = worker.rest()
      guard lines == ["done"], worker.finish() == 0 else {
        for worker in all { worker.end() }
        Issue.record("A writer ended: \(lines)")
        return
      }
    }
    for worker in reading {
      let lines = worker.rest()
      #expect(lines.count == 1 && lines[0].hasPrefix("looks "), "\(lines.prefix(10))")
      #expect(worker.finish() == 0)
    }

    var expected: [String: String] = [:]
    for writer in 0..<writers {
      expected["\(writer).latest"] = "integer \(count)"
      for number in 0..<count {
        expected["\(writer).key.\(number)"] = "string \(writer)-\(number)"
      }
    }
    let contents = try Worker.contents(directory.url)
    let wrong = expected.keys.filter { contents[$0] != expected[$0] }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.sorted().prefix(5))")
    #expect(contents.count == expected.count)
  }
}
