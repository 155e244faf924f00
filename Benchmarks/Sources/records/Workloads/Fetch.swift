import GRDB
import SwiftData

extension Workload {
  static let fetch = Workload(
    name: "fetch", title: "fetch all 100,000", limit: 1.3, count: Fixtures.rowCount
  ) { fixtures in
    try fetchAll(fixtures) { container in
      let context = ModelContext(container)
      return try timed { try context.fetch(FetchDescriptor<Item>()) }
    }
  }

  static let refetch = Workload(
    name: "refetch", title: "fetch them again, loaded", limit: 0.7, count: Fixtures.rowCount
  ) { fixtures in
    try fetchAll(fixtures) { container in
      let context = ModelContext(container)
      let loaded = try context.fetch(FetchDescriptor<Item>())
      defer { keep(loaded) }
      return try timed { try context.fetch(FetchDescriptor<Item>()) }
    }
  }

  private static func fetchAll(
    _ fixtures: Fixtures, stead: @escaping (ModelContainer) throws -> Double
  ) throws -> Runs {
    let database = try PlainDatabase(fixtures.items(.sqlite))
    let selection = try database.prepare("SELECT id, \(PlainItem.columns) FROM item")
    let container = try ModelContainer.benchmark(fixtures.items(.stead))
    let pool = try DatabasePool.benchmark(fixtures.items(.grdb))
    return Runs {
      try timed {
        var items: [PlainItem] = []
        while try selection.step() { items.append(PlainItem(selection)) }
        selection.reset()
        return items
      }
    } stead: {
      try stead(container)
    } grdb: {
      try timed { try pool.read { try ItemRecord.fetchAll($0) } }
    }
  }
}
