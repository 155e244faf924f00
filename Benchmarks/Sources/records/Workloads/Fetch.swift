import BenchmarkHarness
import GRDB
import SwiftData

extension Workload {
  static let fetch = Workload(
    name: "fetch", title: "fetch all 100,000", limit: Goals.fetch, count: Fixtures.rowCount
  ) { fixtures in
    try fetchAll(fixtures) { container in
      let context = ModelContext(container)
      return try timed { try context.fetch(FetchDescriptor<Item>()) }
    }
  }

  /// Reads each of the ten properties once.
  static let fetchAndRead = Workload(
    name: "fetch-read", title: "fetch all 100,000, and read every property",
    limit: Goals.fetchAndRead, count: Fixtures.rowCount
  ) { fixtures in
    let database = try PlainDatabase(fixtures.items(.sqlite))
    let selection = try database.prepare("SELECT id, \(PlainItem.columns) FROM item")
    let container = try ModelContainer.benchmark(fixtures.items(.stead))
    let pool = try DatabasePool.benchmark(fixtures.items(.grdb))
    return Runs {
      try timed {
        let items = try plainItems(selection)
        var sum = 0
        for item in items {
          sum &+= item.title.utf8.count &+ item.code.utf8.count &+ item.rank
          sum &+= Int(item.serial) &+ Int(item.price) &+ (item.isActive ? 1 : 0)
          sum &+= Int(item.createdAt.timeIntervalSinceReferenceDate)
          sum &+= (item.note?.utf8.count ?? 0) &+ (item.quantity ?? 0) &+ item.kind.rawValue
        }
        return (items, sum)
      }
    } stead: {
      let context = ModelContext(container)
      return try timed {
        let items = try context.fetch(FetchDescriptor<Item>())
        var sum = 0
        for item in items {
          sum &+= item.title.utf8.count &+ item.code.utf8.count &+ item.rank
          sum &+= Int(item.serial) &+ Int(item.price) &+ (item.isActive ? 1 : 0)
          sum &+= Int(item.createdAt.timeIntervalSinceReferenceDate)
          sum &+= (item.note?.utf8.count ?? 0) &+ (item.quantity ?? 0) &+ item.kind.rawValue
        }
        return (items, sum)
      }
    } grdb: {
      try timed {
        let items = try pool.read { try ItemRecord.fetchAll($0) }
        var sum = 0
        for item in items {
          sum &+= item.title.utf8.count &+ item.code.utf8.count &+ item.rank
          sum &+= Int(item.serial) &+ Int(item.price) &+ (item.isActive ? 1 : 0)
          sum &+= Int(item.createdAt.timeIntervalSinceReferenceDate)
          sum &+= (item.note?.utf8.count ?? 0) &+ (item.quantity ?? 0) &+ item.kind.rawValue
        }
        return (items, sum)
      }
    }
  }

  static let refetch = Workload(
    name: "refetch", title: "fetch them again, loaded", limit: Goals.refetch,
    count: Fixtures.rowCount
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
      try timed { try plainItems(selection) }
    } stead: {
      try stead(container)
    } grdb: {
      try timed { try pool.read { try ItemRecord.fetchAll($0) } }
    }
  }

  private static func plainItems(_ selection: PlainStatement) throws -> [PlainItem] {
    var items: [PlainItem] = []
    while try selection.step() { items.append(PlainItem(selection)) }
    selection.reset()
    return items
  }
}
