import Foundation
import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

@testable import SteadRecords

@Suite("Random histories", .ownThread) struct HistorySequenceTests {
  /// How many sequences share a store.
  private static let storeShare = 20

  @Test func `equal a reference, by two containers and plain SQL`() throws {
    let first = Effort.seed
    for store in 0..<max(1, Effort.times(100, long: 2_000) / Self.storeShare) {
      let sequence = try HistorySequence()
      for step in 0..<Self.storeShare {
        let seed = first + UInt64(store * Self.storeShare + step)
        do {
          try sequence.run(seed: seed, length: 8)
        } catch {
          Issue.record("Seed \(first), sequence \(seed - first): \(error)")
          return
        }
      }
    }
  }

  /// What is there is what the history says has come and not gone, whoever wrote it.
  @Test func `of two processes account for each row`() throws {
    let store = try TestStore(.file, Ledger.self, Entry.self)
    let worker = try Worker(store.url, "write", "other", "1000", "40")
    let context = store.context()
    context.author = "here"
    for number in 0..<40 {
      context.insert(Ledger(number: number, writer: "here", amounts: [number, 1, 2]))
      if number % 4 == 3 {
        let old = number - 2
        try context.delete(model: Ledger.self, where: #Predicate { $0.number == old })
      }
      try context.save()
    }
    #expect(worker.numbers().count == 40)
    #expect(worker.finish() == 0)
    var rows: Set<PersistentIdentifier> = []
    let history = try context.fetchHistory(Transactions())
    for change in history.flatMap(\.changes) {
      let identifier = change.changedPersistentIdentifier
      switch change {
      case .insert: #expect(rows.insert(identifier).inserted)
      case .update: #expect(rows.contains(identifier))
      case .delete: #expect(rows.remove(identifier) != nil)
      }
    }
    let context2 = store.context()
    let stored =
      try context2.fetchIdentifiers(FetchDescriptor<Ledger>())
      + context2.fetchIdentifiers(FetchDescriptor<Entry>())
    #expect(rows == Set(stored))
    #expect(Set(history.map(\.processIdentifier)).count == 2)
    #expect(history.map(\.transactionIdentifier) == Array(1...Int64(history.count)))
    #expect(zip(history, history.dropFirst()).allSatisfy { $0.stamp < $1.stamp })
  }
}
