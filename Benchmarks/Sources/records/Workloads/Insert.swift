import BenchmarkHarness
import GRDB
import SwiftData

extension Workload {
  static let insert = Workload(
    name: "insert", title: "insert 100,000, one save", limit: Goals.insert, count: Fixtures.rowCount
  ) { fixtures in
    Runs {
      let path = fixtures.newPath()
      defer { fixtures.discard(path) }
      let database = try PlainDatabase(path)
      try database.execute("CREATE TABLE item (\(PlainItem.declarations))")
      return try timed {
        let insertion = try database.prepare(PlainItem.insertion)
        var items: [PlainItem] = []
        for (place, values) in fixtures.values.enumerated() {
          items.append(PlainItem(values, id: Int64(place + 1)))
        }
        try database.transaction {
          for item in items {
            item.bind(to: insertion)
            try insertion.run()
          }
        }
        return items
      }
    } stead: {
      let path = fixtures.newPath()
      defer { fixtures.discard(path) }
      let context = ModelContext(try .benchmark(path))
      return try timed {
        var items: [Item] = []
        for values in fixtures.values {
          let item = Item(values)
          context.insert(item)
          items.append(item)
        }
        try context.save()
        return items
      }
    } grdb: {
      let path = fixtures.newPath()
      defer { fixtures.discard(path) }
      let pool = try DatabasePool.benchmark(path)
      try pool.createItems()
      return try timed {
        var items = fixtures.values.map { ItemRecord($0) }
        try pool.write { database in
          for place in items.indices { try items[place].insert(database) }
        }
        return items
      }
    }
  }
}
