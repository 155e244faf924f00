import Foundation
import SteadPreferences
import Testing

/// Several processes run one transfer at the same time, as an app and its extension may.
struct TransferCrowdTests {
  @Test func movesEachItemOnce() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let source = try KilledTransfer.open("old", directory.url)
    var (expected, races) = ([String](), 0)
    for round in 0..<20 {
      let new = (0..<30).map { "draft \(round).\($0 / 2)" }
      expected += new
      source.set(new, forKey: "drafts")
      let program = try WorkerProcess.program("TransferWorker")
      let workers = try (0..<3).map { _ in
        try WorkerProcess([program, directory.url.filePath, "preferences"])
      }
      for worker in workers {
        let lines = worker.rest()
        #expect(worker.finish() == 0, "\(lines.suffix(2))")
        if lines.contains("changed") || lines.contains(where: { $0.contains("cut off") }) {
          races += 1
        }
      }
      #expect(source.object(forKey: "drafts") == nil)
    }
    let moved = try KilledTransfer.open("new", directory.url)
    let texts = moved.keys.filter { $0.hasPrefix("draft.") }
      .compactMap { moved.string(forKey: $0) }
    #expect(texts.sorted() == expected.sorted())
    #expect(races > 0, "No two processes met.")
  }
}
