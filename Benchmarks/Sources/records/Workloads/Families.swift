import GRDB
import SwiftData

extension Workload {
  /// Fetches all parents, and reads all children of each.
  static let families = Workload(
    name: "families", title: "1,000 parents, 100 children each", limit: 1.5,
    count: Fixtures.parentCount * Fixtures.childCount
  ) { fixtures in
    let database = try PlainDatabase(fixtures.families(.sqlite))
    let parents = try database.prepare("SELECT id, name FROM parent")
    let children = try database.prepare(
      "SELECT id, \(PlainItem.columns), parent FROM child "
        + "WHERE parent IN (SELECT id FROM parent) ORDER BY parent, id")
    let container = try ModelContainer.benchmark(fixtures.families(.stead))
    let pool = try DatabasePool.benchmark(fixtures.families(.grdb))
    return Runs {
      try timed {
        try database.execute("BEGIN")
        let result = try plainFamilies(parents, children)
        try database.execute("COMMIT")
        return result
      }
    } stead: {
      let context = ModelContext(container)
      return try timed {
        let parents = try context.fetch(FetchDescriptor<Parent>())
        var count = 0
        for parent in parents { count += parent.children.count }
        precondition(count == Fixtures.rowCount)
        return parents
      }
    } grdb: {
      try timed {
        try pool.read {
          try ParentRecord.including(all: ParentRecord.children)
            .asRequest(of: Family.self)
            .fetchAll($0)
        }
      }
    }
  }

  private static func plainFamilies(
    _ parents: PlainStatement, _ children: PlainStatement
  ) throws -> [PlainParent] {
    var result: [PlainParent] = []
    var places: [Int64: Int] = [:]
    while try parents.step() {
      let parent = PlainParent(id: parents.integer(0), name: parents.text(1))
      places[parent.id] = result.count
      result.append(parent)
    }
    parents.reset()
    var current: Int64 = 0
    var group: [PlainItem] = []
    func close() {
      if let place = places[current] { result[place].children = group }
      group = []
    }
    while try children.step() {
      let parent = children.integer(11)
      if parent != current {
        close()
        current = parent
      }
      group.append(PlainItem(children))
    }
    close()
    children.reset()
    return result
  }
}
