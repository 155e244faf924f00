import Foundation
import Testing

/// A process is killed while it puts messages in front. What `prepend` has returned for is there, in
/// order; the one that was under way is there or not; and the limit is kept.
@Suite(.ownThread) struct HistoryKillTests {
  private static let limit = 40

  @Test func losesNoMessageAndKeepsTheOrder() throws {
    var random = SplitMix(seed: Effort.seed)
    let directory = try TemporaryDirectory(inMemory: true)
    var (expected, next, killsWithin, done) = ([Int](), 0, 0, 0)
    for kill in 0..<Effort.times(50, long: 2_000) {
      let worker = try Worker(directory.url, ["history-prepend", "\(Self.limit)", "w", "\(next)"])
      var goal = Int.random(in: 0...60, using: &random)
      var begun: Int?
      while goal > 0, let line = worker.line() {
        take(line, &expected, &begun)
        if line.hasPrefix("e") { goal -= 1 }
      }
      if kill.isMultiple(of: 2) { spin(for: Double.random(in: 0..<0.02, using: &random)) }
      worker.end()
      for line in worker.rest() { take(line, &expected, &begun) }
      next = (begun ?? expected.first ?? -1) + 1
      done = max(done, next)
      if begun != nil { killsWithin += 1 }

      let found = try Self.found(directory)
      let without = Array(expected.prefix(Self.limit))
      let with = Array(([begun].compactMap(\.self) + expected).prefix(Self.limit))
      #expect(found == without || found == with, "\(found.prefix(5)), not \(with.prefix(5))")
      expected = found
    }
    #expect(done > Effort.times(500))
    if !isThreadSanitized { #expect(killsWithin > 0) }
    // Nothing is left of files that nothing refers to.
    let blobs = directory.file("domain.history.messages.blobs")
    let names = try FileManager.default.contentsOfDirectory(atPath: blobs.filePath)
    #expect(names.count == expected.count { $0 % 16 == 7 })
  }

  private func take(_ line: String, _ expected: inout [Int], _ begun: inout Int?) {
    let parts = line.split(separator: " ").map(String.init)
    switch (parts.first, parts.last.flatMap(Int.init)) {
    case ("b"?, let number?): begun = number
    case ("e"?, let number?):
      expected.insert(number, at: 0)
      begun = nil
    case ("ready"?, _): break
    default: Issue.record("\(line)")
    }
  }

  private static func found(_ directory: TemporaryDirectory) throws -> [Int] {
    try Worker.messages(directory.url, limit: limit).map { id in
      try #require(Int(id.split(separator: ".")[1]))
    }
  }
}

extension WorkerProcess {
  /// The messages of a history, the newest first, as a process sees them that has just been started.
  static func messages(_ directory: URL, limit: Int = 500) throws -> [String] {
    let worker = try Worker(directory, ["history-dump", "\(limit)"])
    var lines = worker.rest()
    #expect(worker.finish() == 0)
    #expect(lines.popLast() == ".")
    for line in lines where line.hasPrefix("error") { Issue.record("\(line)") }
    return lines
  }
}

/// Works for a time, so that a kill comes at any moment of another process.
func spin(for seconds: Double) {
  let start = ContinuousClock.now
  while start.duration(to: .now) < .seconds(seconds) {}
}
