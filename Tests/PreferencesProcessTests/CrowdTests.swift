import Foundation
import Testing

/// Several processes write into one domain at once, and others read it meanwhile.
@Suite(.ownThread) struct CrowdTests {
  @Test(arguments: [2, 4, 8])
  func `loses no key`(writers: Int) throws {
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

/// Several processes change one history at once, and others read it meanwhile.
@Suite(.ownThread) struct HistoryCrowdTests {
  private func run(
    _ writers: Int, count: Int, limit: Int, removing: Bool, watchers: Int
  ) throws -> [String] {
    let directory = try TemporaryDirectory(inMemory: true)
    let mode = removing ? "removing" : "keeping"
    let writing = try (0..<writers).map { writer in
      try Worker(directory.url, ["history-crowd", "\(limit)", "w\(writer)", "\(count)", mode])
    }
    let goals = (0..<writers).map { "w\($0).\(count - 1)" }.joined(separator: ",")
    let watching = try (0..<watchers).map { _ in
      try Worker(directory.url, ["history-watch", "\(limit)", goals])
    }
    try Worker.race(writing, watching)
    return try Worker.messages(directory.url, limit: limit)
  }

  /// The numbers of a writer's messages, the newest first.
  private func numbers(_ found: [String], of writer: Int) -> [Int] {
    found.compactMap { id in
      id.hasPrefix("w\(writer).") ? Int(id.split(separator: ".")[1]) : nil
    }
  }

  @Test(arguments: [2, 4])
  func `loses and doubles nothing`(writers: Int) throws {
    let count = isThreadSanitized ? 60 : 600
    let found = try run(writers, count: count, limit: 10_000, removing: true, watchers: 1)
    for writer in 0..<writers {
      let expected = (0..<count).filter { $0 % 3 != 0 }.reversed()
      #expect(numbers(found, of: writer) == Array(expected), "of w\(writer)")
    }
    #expect(Set(found).count == found.count)
  }

  @Test(arguments: [2, 4])
  func `keeps the limit exactly`(writers: Int) throws {
    let (count, limit) = (isThreadSanitized ? 60 : 600, 50)
    let found = try run(writers, count: count, limit: limit, removing: false, watchers: 0)
    #expect(found.count == limit)
    for writer in 0..<writers {
      let numbers = numbers(found, of: writer)
      // What there is of a writer's messages are its last ones.
      #expect(numbers == Array(((count - numbers.count)..<count).reversed()))
    }
  }
}
