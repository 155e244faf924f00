import BenchmarkHarness
import Foundation
import SwiftData

/// What a store's history costs: saves with it beside saves without, and `fetchHistory` beside the SELECT of its rows.
enum HistoryCosts {
  /// Times of a save without a history.
  static let saveLimit = 1.3
  /// Times of the bare SELECT.
  static let fetchLimit = 2.0
  static let rowCount = 10_000

  static var comparisons: [Comparison] {
    [
      saves("save-one", "300 saves of one object") { context in
        for number in 0..<300 {
          context.insert(parcel(number))
          try context.save()
        }
      },
      saves("save-ten", "100 saves of ten objects") { context in
        for number in 0..<1000 {
          context.insert(parcel(number))
          if number % 10 == 9 { try context.save() }
        }
      },
      saves("insert", "a save of 10,000 new objects") { try fill($0) },
      saves("update", "a save of 10,000 changed objects", before: fill) { context in
        for parcel in try context.fetch(FetchDescriptor<Parcel>()) { parcel.weight += 1 }
        try context.save()
      },
      saves("delete", "a save of 10,000 deleted objects", before: fill) { context in
        for parcel in try context.fetch(FetchDescriptor<Parcel>()) { context.delete(parcel) }
        try context.save()
      },
      saves("delete-where", "5,000 of 10,000 objects by a predicate", before: fill) { context in
        try context.delete(model: Parcel.self, where: #Predicate { $0.number >= 5_000 })
      },
      fetch("fetch-history", limit: .ratio(fetchLimit), "10,000 changes of 10,000 transactions") {
        context in
        for number in 0..<rowCount {
          context.insert(parcel(number))
          try context.save()
        }
      },
      // One row whose lists are ranges: what its SELECT costs says nothing.
      fetch("fetch-history-wide", limit: nil, "10,000 changes of one transaction") { try fill($0) },
    ]
  }

  private static func parcel(_ number: Int) -> Parcel {
    Parcel(number: number, title: "parcel \(number)", weight: Double(number))
  }

  private static func fill(_ context: ModelContext) throws {
    for number in 0..<rowCount { context.insert(parcel(number)) }
    try context.save()
  }

  private static func context(_ container: ModelContainer) -> ModelContext {
    let context = ModelContext(container)
    context.author = "benchmark"
    return context
  }

  private static func saves(
    _ name: String, _ title: String, before: @escaping (ModelContext) throws -> Void = { _ in },
    _ body: @escaping (ModelContext) throws -> Void
  ) -> Comparison {
    Comparison(name: name, title: title, limit: .ratio(saveLimit)) { directory in
      func peer(_ name: String, _ history: ModelConfiguration.History) -> Comparison.Peer {
        Comparison.Peer(name: name) {
          let url = directory.appending(path: "\(UUID().uuidString).store")
          let context = context(
            try ParcelStore.open(ParcelsV2.self, url, history: history))
          try before(context)
          return try timed { try body(context) }
        }
      }
      return [peer("history", .on), peer("without", .off)]
    }
  }

  private static func fetch(
    _ name: String, limit: Comparison.Limit?, _ title: String,
    _ fill: @escaping (ModelContext) throws -> Void
  ) -> Comparison {
    Comparison(name: name, title: title, limit: limit) { directory in
      let url = directory.appending(path: "history.store")
      let context = context(try ParcelStore.open(ParcelsV2.self, url))
      try fill(context)
      let database = try PlainDatabase(url.path)
      return [
        Comparison.Peer(name: "fetchHistory") {
          try timed { try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) }
        },
        Comparison.Peer(name: "SELECT") {
          try timed {
            try database.readAll(
              "SELECT number, stamp, author, program, process, changes FROM stead_history "
                + "WHERE changes IS NOT NULL ORDER BY number")
          }
        },
      ]
    }
  }
}
