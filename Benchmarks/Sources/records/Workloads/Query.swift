import BenchmarkHarness
import Foundation
import GRDB
import SwiftData

extension Workload {
  /// Rows of one rank, of which there are a hundred, by price, the first fifty.
  static let query = Workload(
    name: "query", title: "10,000 indexed filters, sorted, limit 50", limit: Goals.query,
    count: 10_000
  ) { fixtures in
    let database = try PlainDatabase(fixtures.indexedItems(.sqlite))
    let selection = try database.prepare(
      "SELECT id, \(PlainItem.columns) FROM item WHERE rank = ?1 ORDER BY price LIMIT 50")
    let container = try ModelContainer.benchmark(fixtures.indexedItems(.stead))
    let pool = try DatabasePool.benchmark(fixtures.indexedItems(.grdb))
    return Runs {
      try timed {
        for number in 0..<10_000 {
          var items: [PlainItem] = []
          selection.bind(Int64(number % ItemValues.rankCount), 1)
          while try selection.step() { items.append(PlainItem(selection)) }
          selection.reset()
          keep(items)
        }
      }
    } stead: {
      let context = ModelContext(container)
      return try timed {
        for number in 0..<10_000 {
          let rank = number % ItemValues.rankCount
          var descriptor = FetchDescriptor<IndexedItem>(
            predicate: #Predicate { $0.rank == rank }, sortBy: [SortDescriptor(\.price)])
          descriptor.fetchLimit = 50
          keep(try context.fetch(descriptor))
        }
      }
    } grdb: {
      try timed {
        for number in 0..<10_000 {
          let rank = number % ItemValues.rankCount
          let items = try pool.read {
            try ItemRecord
              .filter(ItemRecord.Columns.rank == rank)
              .order(ItemRecord.Columns.price)
              .limit(50)
              .fetchAll($0)
          }
          keep(items)
        }
      }
    }
  }
}
