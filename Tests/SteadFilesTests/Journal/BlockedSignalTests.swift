import Foundation
import Testing

@testable import SteadFiles

/// Threads that block all signals after they have first used a journal, as `main` does before `sigwait`.
///
/// The signal of a lost page was unblocked once in each thread. A file that was cut off later ended the program.
@Suite struct BlockedSignalTests {
  private static let uses: [String: @Sendable (LineLog) throws -> Void] = [
    "write": { try $0.append("two") }, "compact": { try $0.compact() },
    "read": { try $0.refresh() }, "look": { try $0.look() },
    "flush": { try $0.journal.flush() }, "place": { _ = $0.journal.isInPlace },
    "spoilt": { _ = $0.journal.isSpoilt }, "tail": { _ = $0.journal.tailWord },
    "checkpoint": { _ = try $0.journal.checkpointBytes() },
    "prepare": { _ = try $0.finish($0.compaction().prepare()) },
    "insist": { _ = $0.journal.insistOnLock() }, "idle": { _ = $0.journal.freeIdleLock() },
    "listen": { try $0.journal.listen() },
  ]

  @Test(.exitTests, arguments: uses.keys.sorted(), [false, true])
  func `a file that is cut off does not end the program`(use: String, keepsLock: Bool) async throws
  {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) {
      [
        path = directory.file("a.journal").filePath as String, use = use as String,
        keepsLock = keepsLock as Bool
      ] in
      let log = try LineLog(URL(filePath: path))
      log.journal.mayKeepLock = keepsLock
      for number in 0..<200 { try log.append("\(number)") }
      // What a thread does some milliseconds later.
      while log.journal.freeIdleLock() != nil {}
      var all = sigset_t()
      sigfillset(&all)
      #expect(pthread_sigmask(SIG_BLOCK, &all, nil) == 0)
      #expect(truncate(path, 0) == 0)
      // Whether it succeeds is another question.
      try? BlockedSignalTests.uses[use]?(log)
      log.journal.freeKeptLock()
    }
  }
}
