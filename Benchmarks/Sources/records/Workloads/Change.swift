import BenchmarkHarness
import Foundation
import GRDB
import SwiftData

private let changeCount = 10_000

extension Workload {
  /// Changes two properties of each of 10,000 loaded objects, and saves once.
  static let update = Workload(
    name: "update", title: "update 10,000, one save", limit: Goals.update, count: changeCount
  ) { fixtures in
    Runs {
      let path = try fixtures.copy(of: fixtures.items(.sqlite))
      defer { fixtures.discard(path) }
      let database = try PlainDatabase(path)
      let items = try plainItems(database)
      return try timed {
        let change = try database.prepare("UPDATE item SET code = ?1, price = ?2 WHERE id = ?3")
        try database.transaction {
          for item in items {
            item.code = "new"
            item.price += 1
            change.bind(item.code, 1)
            change.bind(item.price, 2)
            change.bind(item.id, 3)
            try change.run()
          }
        }
      }
    } stead: {
      let path = try fixtures.copy(of: fixtures.items(.stead))
      defer { fixtures.discard(path) }
      let context = ModelContext(try .benchmark(path))
      let items = try steadItems(context)
      return try timed {
        for item in items {
          item.code = "new"
          item.price += 1
        }
        try context.save()
      }
    } grdb: {
      let path = try fixtures.copy(of: fixtures.items(.grdb))
      defer { fixtures.discard(path) }
      let pool = try DatabasePool.benchmark(path)
      var items = try pool.read { try ItemRecord.limit(changeCount).fetchAll($0) }
      return try timed {
        try pool.write { database in
          for place in items.indices {
            items[place].code = "new"
            items[place].price += 1
            try items[place].update(database)
          }
        }
      }
    }
  }

  static let delete = Workload(
    name: "delete", title: "delete 10,000, one save", limit: Goals.delete, count: changeCount
  ) { fixtures in
    Runs {
      let path = try fixtures.copy(of: fixtures.items(.sqlite))
      defer { fixtures.discard(path) }
      let database = try PlainDatabase(path)
      let items = try plainItems(database)
      return try timed {
        let deletion = try database.prepare("DELETE FROM item WHERE id = ?1")
        try database.transaction {
          for item in items {
            deletion.bind(item.id, 1)
            try deletion.run()
          }
        }
      }
    } stead: {
      let path = try fixtures.copy(of: fixtures.items(.stead))
      defer { fixtures.discard(path) }
      let context = ModelContext(try .benchmark(path))
      let items = try steadItems(context)
      return try timed {
        for item in items { context.delete(item) }
        try context.save()
      }
    } grdb: {
      let path = try fixtures.copy(of: fixtures.items(.grdb))
      defer { fixtures.discard(path) }
      let pool = try DatabasePool.benchmark(path)
      let items = try pool.read { try ItemRecord.limit(changeCount).fetchAll($0) }
      return try timed {
        try pool.write { database in
          for item in items { try item.delete(database) }
        }
      }
    }
  }

  private static func plainItems(_ database: PlainDatabase) throws -> [PlainItem] {
    let selection = try database.prepare(
      "SELECT id, \(PlainItem.columns) FROM item LIMIT \(changeCount)")
    var items: [PlainItem] = []
    while try selection.step() { items.append(PlainItem(selection)) }
    return items
  }

  private static func steadItems(_ context: ModelContext) throws -> [Item] {
    var descriptor = FetchDescriptor<Item>()
    descriptor.fetchLimit = changeCount
    return try context.fetch(descriptor)
  }
}
