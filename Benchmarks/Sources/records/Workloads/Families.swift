import BenchmarkHarness
import GRDB
import SwiftData

extension Workload {
  /// Fetches all parents, and reads two properties of all children of each.
  static let families = Workload(
    name: "families", title: "1,000 parents, 100 children each", limit: Goals.families,
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
        var sum = 0
        for parent in result {
          for child in parent.children { sum &+= child.rank &+ child.title.utf8.count }
        }
        return (result, sum)
      }
    } stead: {
      let context = ModelContext(container)
      return try timed {
        let parents = try context.fetch(FetchDescriptor<Parent>())
        var (count, sum) = (0, 0)
        for parent in parents {
          let children = parent.children
          count += children.count
          for child in children { sum &+= child.rank &+ child.title.utf8.count }
        }
        precondition(count == Fixtures.rowCount)
        return (parents, sum)
      }
    } grdb: {
      try timed {
        let families = try pool.read {
          try ParentRecord.including(all: ParentRecord.children)
            .asRequest(of: Family.self)
            .fetchAll($0)
        }
        var sum = 0
        for family in families {
          for child in family.children { sum &+= child.rank &+ child.title.utf8.count }
        }
        return (families, sum)
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
