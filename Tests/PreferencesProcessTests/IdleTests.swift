import Foundation
import Testing

/// A program that does nothing is left alone.
///
/// Each one once woke every second: the first use of Dispatch arms a timer for as long as the process lives.
@Suite(.hangLimit, .ownThread) struct IdleTests {
  @Test func `an idle program keeps no thread but the one that waits for changes`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let worker = try Worker(directory.url, ["follow"])
    try #require(worker.line() == "ready")
    let other = try Worker(directory.url, ["follow"])
    try #require(other.line() == "ready")
    for number in 1...3 {
      other.send("set key \(number)")
      #expect(other.line() == "own key integer \(number)")
      #expect(worker.line() == "other key integer \(number)")
    }
    // The thread sanitizer has one of its own.
    let expected = isThreadSanitized ? 3 : 2
    for process in [worker, other] {
      // Asked again and again, since threads end without an event; after a minute the test fails.
      for _ in 0..<6_000 where process.threadCount > expected { usleep(10_000) }
      #expect(process.threadCount == expected, "\(process.threadNames)")
    }
  }
}

extension WorkerProcess {
  private var tasks: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
  }

  fileprivate var threadCount: Int { tasks.count }

  /// What each thread waits for.
  fileprivate var threadNames: [String] {
    tasks.map { task in
      (try? String(contentsOfFile: "/proc/\(id)/task/\(task)/wchan", encoding: .utf8)) ?? ""
    }
  }
}
