import Foundation
import SwiftData
import SteadTestSupport
import Testing
import WorkerModels

@Suite("A process killed during saves", .serialized, .ownThread) struct CrashTests {
  static let kills = Effort.times(60, long: 1_500)

  /// Each round starts a process that saves group after group, kills it at a random moment, opens the
  /// store and looks: what it said was saved is there, and no group is there in part.
  @Test(.hangLimit)
  func `every committed save is there, none half`() throws {
    let directory = try TestFiles.directory()
    var random = SplitMix(seed: Effort.seed)
    var savesSeen = 0
    var killsInSave = 0
    for round in 0..<Self.kills {
      // Some rounds go on with a store that crashed before, others start with none.
      let url = directory.file("crash-\(round / 10).store")
      let first = round * 1_000
      let worker = try Worker(url, "write", "worker", "\(first)", "1000")
      let patience = Int.random(in: 0..<12, using: &random)
      var saved: [Int] = []
      for _ in 0..<patience {
        if let number = worker.number() { saved.append(number) }
      }
      // Somewhere within the next save.
      usleep(UInt32.random(in: 0..<1_500, using: &random))
      worker.end()
      saved += worker.numbers()

      let context = ModelContext(try openLedgers(at: url))
      let last = first + 1_000
      let descriptor = FetchDescriptor<Ledger>(
        predicate: #Predicate { $0.number >= first && $0.number < last },
        sortBy: [SortDescriptor(\.number)])
      let found = try context.fetch(descriptor).map(\.number)
      try #require(found.starts(with: saved), "round \(round): lost a save")
      try #require(found.count <= saved.count + 1, "round \(round): a save nobody made")
      if found.count == saved.count + 1 { killsInSave += 1 }
      try #require(
        try context.all(Ledger.self).allSatisfy { $0.isWhole }, "round \(round): half a save")
      let strays = FetchDescriptor<Entry>(predicate: #Predicate { $0.ledger == nil })
      try #require(try context.fetchCount(strays) == 0, "round \(round): rows without a group")
      savesSeen += saved.count
    }
    #expect(savesSeen > Self.kills)
    print("\(Self.kills) kills: \(savesSeen) reported saves, \(killsInSave) saved but unreported")
  }
}
