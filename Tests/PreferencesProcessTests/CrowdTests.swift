import Foundation
import Testing

/// Several processes write into one domain at once, and others read it meanwhile.
@Suite(.ownThread) struct CrowdTests {
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
    try Worker.race(writing, reading)

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
