import GRDB
import SwiftData

extension Workload {
  static let insert = Workload(
    name: "insert", title: "insert 100,000, one save", limit: 1.6, count: Fixtures.rowCount
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

  static let saves = Workload(
    name: "saves", title: "1,000 saves of one row", limit: 1.5, count: 1_000
  ) { fixtures in
    let rows = fixtures.values.prefix(1_000)
    return Runs {
      let path = fixtures.newPath()
      defer { fixtures.discard(path) }
      let database = try PlainDatabase(path)
      try database.execute("CREATE TABLE item (\(PlainItem.declarations))")
      return try timed {
        let insertion = try database.prepare(PlainItem.insertion)
        for (place, values) in rows.enumerated() {
          PlainItem(values, id: Int64(place + 1)).bind(to: insertion)
          try insertion.run()
        }
      }
    } stead: {
      let path = fixtures.newPath()
      defer { fixtures.discard(path) }
      let context = ModelContext(try .benchmark(path))
      return try timed {
        for values in rows {
          context.insert(Item(values))
          try context.save()
        }
      }
    } grdb: {
      let path = fixtures.newPath()
      defer { fixtures.discard(path) }
      let pool = try DatabasePool.benchmark(path)
      try pool.createItems()
      return try timed {
        for values in rows {
          var item = ItemRecord(values)
          try pool.write { try item.insert($0) }
        }
      }
    }
  }
}
