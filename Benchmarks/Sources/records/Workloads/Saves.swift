import BenchmarkHarness
import Foundation
import GRDB
import SwiftData

private let saveCount = 1_000

extension Workload {
  static let saves = Workload(
    name: "saves", title: "1,000 saves of one row", limit: Goals.saves, count: saveCount
  ) { fixtures in
    saves(fixtures) {
      let path = fixtures.newPath()
      defer { fixtures.discard(path) }
      let context = ModelContext(try .benchmark(path))
      return try timed { try save(fixtures.values.prefix(saveCount), in: context) }
    }
  }

  /// The context has saved 3,000 times, holds 100,000 objects, and is not the container's only one.
  static let savesInOldProcess = Workload(
    name: "saves-old", title: "the same in a process that has worked a while",
    limit: Goals.savesInOldProcess, count: saveCount
  ) { fixtures in
    let container = try ModelContainer.benchmark(fixtures.copy(of: fixtures.items(.stead)))
    let context = ModelContext(container)
    let other = ModelContext(container)
    let items = try context.fetch(FetchDescriptor<Item>())
    _ = try other.fetchCount(FetchDescriptor<Item>())
    for _ in 0..<3 { try save(fixtures.values.prefix(saveCount), in: context) }
    return saves(fixtures) {
      defer { keep((items, other)) }
      return try timed { try save(fixtures.values.prefix(saveCount), in: context) }
    }
  }

  static let savesBesideIdleContexts = Workload(
    name: "saves-idle", title: "the same beside 1,000 idle contexts",
    limit: Goals.savesBesideIdleContexts, count: saveCount
  ) { fixtures in
    saves(fixtures) {
      let path = fixtures.newPath()
      defer { fixtures.discard(path) }
      let container = try ModelContainer.benchmark(path)
      let idle = try (0..<1_000).map { _ in
        let context = ModelContext(container)
        _ = try context.fetchCount(FetchDescriptor<Item>())
        return context
      }
      defer { keep(idle) }
      let context = ModelContext(container)
      return try timed { try save(fixtures.values.prefix(saveCount), in: context) }
    }
  }

  private static func save(_ rows: ArraySlice<ItemValues>, in context: ModelContext) throws {
    for values in rows {
      context.insert(Item(values))
      try context.save()
    }
  }

  /// The peers save into an empty store each time.
  private static func saves(
    _ fixtures: Fixtures, stead: @escaping () throws -> Double
  ) -> Runs {
    let rows = fixtures.values.prefix(saveCount)
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
      try stead()
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
