import SteadTestSupport
import Testing

/// A transfer is killed at each of the calls by which it changes files, one after the other. In a short run,
/// of the calls of one name the first three, and then every thirteenth.
@Suite(.needs(.tracing))
struct SystemCallKillTests {
  private static let calls = [
    "fallocate", "fdatasync", "flock", "fsync", "ftruncate", "linkat", "msync", "pwrite64",
    "pwritev", "rename", "renameat2", "unlink", "unlinkat", "utimensat",
  ]
  /// More than a run makes of any call.
  private static let limit = 1000

  @Test(arguments: ["preferences", "records", "history", "table"])
  func `loses and doubles nothing`(workload: String) throws {
    var kills = 0
    for call in Self.calls {
      let counts = (0..<Self.limit).filter { Effort.isLong || $0 < 3 || $0 % 13 == 0 }
      let end = try #require(
        try counts.firstIndex { try !isKilled(workload, at: call, after: $0) }, "\(call)")
      kills += end
    }
    // Items, receipt, removal and receipt, and what each of them takes.
    #expect(kills > 20)
  }

  /// False when the run came to its end before that many calls.
  private func isKilled(_ workload: String, at call: String, after count: Int) throws -> Bool {
    let place = try TransferPlace(workload)
    let texts = ["one", "twin", "twin", "two"]
    try place.add(texts)
    let worker = try place.worker(
      "run",
      launcher: [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)",
        "-e", "inject=\(call):signal=KILL:when=\(count + 1)",
      ])
    let isDone = worker.rest().contains { $0.hasPrefix("done") }
    worker.finish()

    let all = try place.left + place.moved()
    for text in Set(texts) {
      let isThere = all.count { $0 == text } >= texts.count { $0 == text }
      #expect(isThere, "\(text) is lost at \(call) \(count)")
    }
    let next = try place.worker("run")
    let lines = next.rest()
    #expect(next.finish() == 0, "\(lines.suffix(2)) after \(call) \(count)")
    #expect(place.left.isEmpty, "after \(call) \(count)")
    #expect(try place.moved().sorted() == texts, "after \(call) \(count)")
    return !isDone
  }
}
