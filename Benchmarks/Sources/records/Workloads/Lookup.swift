import BenchmarkHarness
import GRDB
import SwiftData

extension Workload {
  static let lookup = Workload(
    name: "lookup", title: "100,000 look-ups by identifier", limit: Goals.lookup,
    count: Fixtures.rowCount
  ) { fixtures in
    try lookups(fixtures, isTransaction: true)
  }

  static let lookupAlone = Workload(
    name: "lookup-autocommit", title: "the same, each its own transaction in SQLite and GRDB",
    limit: Goals.lookupAlone, count: Fixtures.rowCount
  ) { fixtures in
    try lookups(fixtures, isTransaction: false)
  }

  /// The places of all rows, in an order that no cache foresees.
  private static func shuffled(_ count: Int) -> [Int] {
    // A stride without a common divisor visits each place once.
    (0..<count).map { $0 * 61_813 % count }
  }

  private static func lookups(_ fixtures: Fixtures, isTransaction: Bool) throws -> Runs {
    let places = shuffled(Fixtures.rowCount)
    let database = try PlainDatabase(fixtures.items(.sqlite))
    let selection = try database.prepare("SELECT id, \(PlainItem.columns) FROM item WHERE id = ?1")
    let container = try ModelContainer.benchmark(fixtures.items(.stead))
    let pool = try DatabasePool.benchmark(fixtures.items(.grdb))
    return Runs {
      try timed {
        var items: [PlainItem] = []
        if isTransaction { try database.execute("BEGIN") }
        for place in places {
          selection.bind(Int64(place + 1), 1)
          if try selection.step() { items.append(PlainItem(selection)) }
          selection.reset()
        }
        if isTransaction { try database.execute("COMMIT") }
        return items
      }
    } stead: {
      let identifiers = try ModelContext(container).fetchIdentifiers(FetchDescriptor<Item>())
      let context = ModelContext(container)
      return timed {
        var items: [Item] = []
        for place in places {
          if let item = context.model(for: identifiers[place]) as? Item { items.append(item) }
        }
        return items
      }
    } grdb: {
      try timed {
        var items: [ItemRecord] = []
        if isTransaction {
          try pool.read { database in
            for place in places {
              if let item = try ItemRecord.fetchOne(database, key: place + 1) { items.append(item) }
            }
          }
        } else {
          for place in places {
            let item = try pool.read { try ItemRecord.fetchOne($0, key: place + 1) }
            if let item { items.append(item) }
          }
        }
        return items
      }
    }
  }
}
