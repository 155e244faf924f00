import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

@testable import SteadRecords

/// Two processes and plain SQL write by turns, and all that the history says is compared with plain values.
@Suite("Random histories of two processes", .hangLimit, .ownThread) struct YardHistoryTests {
  /// How many sequences share a store.
  private static let storeShare = 25
  /// The most sequences that are tried to shorten one that fails.
  private static let shrinkLimit = 500

  @Test(arguments: [false, true])
  func `equal a reference; what was is what a copy has, and is there again when restored`(
    keepsOldValues: Bool
  ) throws {
    let first = Effort.seed
    let worker = try Self.worker()
    for store in 0..<max(1, Effort.times(50, long: 1_000) / Self.storeShare) {
      let seed = first &+ UInt64(store)
      let steps = Self.steps(seed)
      guard let problem = Self.problem(steps, keepsOldValues, worker) else { continue }
      Issue.record("STEAD_SEED=\(seed): \(problem)\n\(try Self.shrunk(steps, keepsOldValues))")
      return
    }
  }

  private static func worker() throws -> WorkerProcess {
    try WorkerProcess([try WorkerProcess.program("StoreWorker"), "-", "history"])
  }

  /// The sequences of one store.
  private static func steps(_ seed: UInt64) -> [[YardStep]] {
    var random = SplitMix(seed: seed)
    return (0..<storeShare).map { _ in (0..<8).map { _ in YardStep(&random) } }
  }

  /// What is wrong with sequences on one store; nil when nothing is.
  private static func problem(
    _ sequences: [[YardStep]], _ keepsOldValues: Bool, _ worker: WorkerProcess
  ) -> String? {
    var trial: YardTrial?
    do {
      let new = try YardTrial(keepsOldValues: keepsOldValues, worker)
      trial = new
      for steps in sequences {
        try new.run(steps)
        try new.compareAll()
      }
      try new.compareRestored()
      return nil
    } catch {
      return "\(error)\n\((trial?.log.suffix(40) ?? []).joined(separator: "\n"))"
    }
  }

  /// A shorter sequence that fails, and what it does.
  private static func shrunk(_ sequences: [[YardStep]], _ keepsOldValues: Bool) throws -> String {
    var steps = sequences.flatMap(\.self)
    var best = ""
    var tries = 0
    func accepts(_ shorter: [YardStep]) throws -> Bool {
      tries += 1
      guard tries <= shrinkLimit,
        let problem = problem([shorter], keepsOldValues, try worker())
      else { return false }
      (steps, best) = (shorter, problem)
      return true
    }
    var size = steps.count / 2
    while size > 0 {
      var start = 0
      while start < steps.count {
        var shorter = steps
        shorter.removeSubrange(start..<min(start + size, steps.count))
        if try !accepts(shorter) { start += size }
      }
      size /= 2
    }
    for place in steps.indices {
      for edit in steps[place].edits.indices.reversed() {
        var shorter = steps
        shorter[place].edits.remove(at: edit)
        _ = try accepts(shorter)
      }
    }
    return "Shortened to: \(best)"
  }
}
