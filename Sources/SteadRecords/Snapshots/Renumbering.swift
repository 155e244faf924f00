import SteadSQLite

/// Gives rows of a mirror different numbers, everywhere they are referred to.
struct Renumbering {
  let layout: StoreLayout
  let connection: StoreConnection

  /// - Parameter numbers: The new numbers by the old ones.
  func run(_ root: Int, _ numbers: [Int64: Int64]) throws {
    let statements = try self.statements(root).map { try connection.statement($0) }
    let table = layout.entities[root].table.sqlName
    for (old, new) in numbers.sorted(by: { $0.key < $1.key }) where old != new {
      // The store reports that the new object already existed.
      try connection.run("DELETE FROM \(table) WHERE \"_id\" = ?1", [.integer(new)])
      for statement in statements {
        statement.reset()
        statement.bind(old, at: 1)
        statement.bind(new, at: 2)
        try statement.run()
      }
    }
  }

  private func statements(_ root: Int) -> [String] {
    let entities = layout.entities
    // A member without a position has that of its number, which it keeps.
    let orders = TableLayout(root: entities[root], layout: layout).orders.map {
      ", \($0.name.sqlName) = ifnull(\($0.name.sqlName), ?1)"
    }
    var result = [
      "UPDATE \(entities[root].table.sqlName) SET \"_id\" = ?2\(orders.joined()) WHERE \"_id\" = ?1"
    ]
    for entity in entities {
      for index in entity.relationships {
        let property = entity.properties[index]
        let leadsHere = property.destination.map { entities[$0].rootIndex } == root
        if let column = property.column?.sqlName, leadsHere {
          result.append("UPDATE \(entity.table.sqlName) SET \(column) = ?2 WHERE \(column) = ?1")
        }
        guard let join = property.joinTable else { continue }
        let sides =
          (entity.rootIndex == root ? [join.owner] : []) + (leadsHere ? [join.target] : [])
        for side in sides {
          result.append("UPDATE \(join.name.sqlName) SET \(side) = ?2 WHERE \(side) = ?1")
        }
      }
    }
    var seen: Set<String> = []
    return result.filter { seen.insert($0).inserted }
  }
}
