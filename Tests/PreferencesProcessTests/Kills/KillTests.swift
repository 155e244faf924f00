import Foundation
import Testing

/// A process may end at any moment. What `set` has returned for is there afterwards; the one change that
/// was under way is there or not; nothing else is touched.
@Suite(.ownThread) struct KillTests {
  @Test(arguments: [
    ("small", 1, 25), ("large", 1, 20), ("checkpoints", 1, 20), ("large", 2, 20),
  ])
  func losesNothing(workload: String, writers: Int, kills: Int) throws {
    let seed = Effort.seed
    let kills = Effort.times(kills, long: kills * 20)
    var run = try KillRun(workload, writers: writers, seed: seed)
    for _ in 0..<kills { try run.kill() }
    func isMet() -> Bool {
      run.writers.killsInChanges > 0 && run.writers.killsInOpening > 0
        && (workload != "checkpoints" || run.writers.killsInSynchronize > 0)
    }
    // When a kill comes is chance. More of them may meet what none has met yet.
    for _ in 0..<(kills * 4) where !isMet() && !isThreadSanitized { try run.kill() }
    try run.finish()
    // The kills have met what they were meant to meet.
    #expect(run.writers.changesDone > kills * 10)
    if isThreadSanitized { return }
    #expect(run.writers.killsInChanges > 0)
    #expect(run.writers.killsInOpening > 0)
    if workload == "checkpoints" { #expect(run.writers.killsInSynchronize > 0) }
    if workload == "large" { #expect(run.journals.count > kills / 20) }
  }

  /// A compaction is made beside the one who writes, from a file that grows meanwhile.
  @Test(arguments: [1, 2])
  func losesNothingWhileCompacting(writers: Int) throws {
    let kills = Effort.times(12, long: 300)
    let seed = Effort.seed
    var run = try KillRun("compactions", writers: writers, seed: seed)
    for _ in 0..<kills { try run.kill(after: 400, whileCompacting: true) }
    for _ in 0..<(kills * 4) where run.killsInCompaction <= kills / 4 && !isThreadSanitized {
      try run.kill(after: 400, whileCompacting: true)
    }
    try run.finish()
    if isThreadSanitized { return }
    #expect(run.killsInCompaction > kills / 4)
    #expect(run.journals.count > kills / 15)
  }
}
