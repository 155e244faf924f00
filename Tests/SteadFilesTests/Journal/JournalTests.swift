import Foundation
import Testing

@testable import SteadFiles

@Suite struct JournalTests {
  let directory: TemporaryDirectory
  let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("a.journal")
  }

  @Test func `a new journal begins with what it is given`() throws {
    let log = try LineLog(url, initial: ["first", "second"])
    #expect(log.lines == ["first", "second"])
    #expect(!log.journal.hasNews)
    #expect(try url.mode == 0o600)
    #expect(try directory.names == ["a.journal"])
    #expect(try LineLog(url, initial: ["never asked"]).lines == ["first", "second"])
  }

  @Test func `what was appended is there for the next`() throws {
    let log = try LineLog(url)
    try log.append("one")
    try log.append("two", "three")
    #expect(!log.journal.hasNews, "one's own records are no news")
    #expect(try LineLog(url).lines == ["one", "two", "three"])
    #expect(log.damages.isEmpty)
  }

  @Test func `others see what is appended without opening again`() throws {
    let first = try LineLog(url)
    let second = try LineLog(url)
    try first.append("one")
    #expect(second.journal.hasNews)
    try second.refresh()
    #expect(second.lines == ["one"] && !second.journal.hasNews)
    try second.append("two")
    try first.append("three")
    #expect(first.lines == ["one", "two", "three"])
    try second.refresh()
    #expect(second.lines == first.lines)
    #expect(first.checkpointCount == 1 && second.checkpointCount == 1)
  }

  @Test func `records of all sizes grow the file`() throws {
    let log = try LineLog(url)
    let other = try LineLog(url)
    var expected: [String] = []
    for size in Array(1...70) + [4_000, 20_000, 300_000, 3_000_000, 7] {
      expected.append(String(repeating: "x", count: size))
      try log.append(expected[expected.count - 1])
    }
    try other.refresh()
    #expect(other.lines == expected)
    #expect(try LineLog(url).lines == expected)
  }

  @Test func `compaction puts a new file in place for all`() throws {
    let first = try LineLog(url)
    let second = try LineLog(url)
    try first.append("one", "two")
    try second.refresh()
    try first.compact(metadata: Data("m".utf8))
    #expect(second.journal.hasNews)
    try second.append("three")
    #expect(second.lines == ["one", "two", "three"] && second.checkpointCount == 2)
    try first.refresh()
    #expect(first.lines == second.lines && first.checkpointCount == 1)
    try first.journal.write(catchingUp: { _ in }) { writer in
      #expect(writer.metadata == Data("m".utf8))
      #expect(writer.logByteCount == 16 && writer.checkpointByteCount == 7)
    }
    #expect(try LineLog(url).lines == first.lines)
    #expect(try directory.names == ["a.journal"])
  }

  @Test func `a record in two parts is the same as in one`() throws {
    let log = try LineLog(url)
    let other = try LineLog(url)
    let texts = ["", "a", "12345678", String(repeating: "y", count: 300_000)]
    var expected: [String] = []
    for first in texts {
      for second in texts where !(first + second).isEmpty {
        expected.append(first + second)
        try log.journal.write(catchingUp: { _ in }) { writer in
          try Array(first.utf8).withUnsafeBytes { first in
            try Array(second.utf8).withUnsafeBytes { try writer.append(first, $0) }
          }
        }
      }
    }
    try other.refresh()
    #expect(other.lines == expected && other.damages.isEmpty)
    #expect(try LineLog(url).lines == expected)
  }
}
