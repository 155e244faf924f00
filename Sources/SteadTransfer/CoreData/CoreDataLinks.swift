import SteadRecords
import SteadSQLite

/// Which rows refer to which, read once for each column and table of pairs.
struct CoreDataLinks {
  private struct Link {
    let target: Int64
    let order: Int64?
  }

  private typealias Targets = [StoredRow.Key: [Link]]

  private let store: ForeignStore
  private let catalog: CoreDataCatalog
  private let planner: CoreDataPlanner
  private var targetsByStorage: [CoreDataClassPlan.Relationship.Storage: Targets] = [:]

  init(_ store: ForeignStore, _ catalog: CoreDataCatalog, _ planner: CoreDataPlanner) {
    self.store = store
    self.catalog = catalog
    self.planner = planner
  }

  /// The rows that a relationship which is not in a row's own columns leads to, in their order.
  mutating func targets(
    of relationship: CoreDataClassPlan.Relationship, from row: StoredRow.Key
  ) throws -> [StoredRow.Key] {
    if targetsByStorage[relationship.storage] == nil {
      targetsByStorage[relationship.storage] = try read(relationship.storage)
    }
    let links = targetsByStorage[relationship.storage]?[row] ?? []
    return links.map { StoredRow.Key(root: relationship.destination, number: $0.target) }
  }

  private func read(_ storage: CoreDataClassPlan.Relationship.Storage) throws -> Targets {
    switch storage {
    case .own: [:]
    case .other(let reference): try sorted(read(reference))
    case .pairs(let table, let own, let other, let isReflexive):
      try sorted(readPairs(table, own, other, isReflexive))
    }
  }

  private func read(_ reference: CoreDataClassPlan.Reference) throws -> Targets {
    let order = reference.orderColumn.map(quotedName) ?? "NULL"
    let entity = reference.entityColumn.map(quotedName) ?? "NULL"
    let numbers = reference.entities.sorted().map(String.init).joined(separator: ", ")
    let column = quotedName(reference.column)
    var result: Targets = [:]
    try store.forEachRow(
      "SELECT Z_PK, \(column), \(order), \(entity) FROM \(quotedName(reference.table)) "
        + "WHERE \(column) IS NOT NULL AND Z_ENT IN (\(numbers))"
    ) { row in
      // Another value is found when the row itself is read, and makes it a failure.
      guard case .integer(let child) = row[0], case .integer(let parent) = row[1] else { return }
      let root = catalog.root(row[3]) ?? reference.destination
      result[StoredRow.Key(root: root, number: parent), default: []].append(
        Link(target: child, order: row[2].integer))
    }
    return result
  }

  private func readPairs(
    _ table: String, _ own: String, _ other: String, _ isReflexive: Bool
  ) throws -> Targets {
    guard let pairs = CoreDataPairs(table, catalog.columns[table] ?? []),
      let side = pairs.sides.first(where: { $0.column == own }),
      let root = catalog.entities[side.entity]?.root
    else { return [:] }
    let order = planner.order(of: other, in: table).map(quotedName) ?? "NULL"
    var result: Targets = [:]
    func add(_ owner: Int64, _ target: Int64, _ order: Int64?) {
      let key = StoredRow.Key(root: root, number: owner)
      guard isReflexive, result[key]?.contains(where: { $0.target == target }) == true else {
        result[key, default: []].append(Link(target: target, order: order))
        return
      }
    }
    try store.forEachRow(
      "SELECT \(quotedName(own)), \(quotedName(other)), \(order) FROM \(quotedName(table))"
    ) { row in
      guard case .integer(let owner) = row[0], case .integer(let target) = row[1] else {
        throw CoreDataCatalog.damaged("\(table) has a row that isn't a pair.")
      }
      add(owner, target, row[2].integer)
      if isReflexive { add(target, owner, nil) }
    }
    return result
  }

  /// By their places, those without one behind, then by number.
  private func sorted(_ targets: Targets) -> Targets {
    targets.mapValues { links in
      links.sorted { one, other in
        if one.order != other.order { return (one.order ?? .max) < (other.order ?? .max) }
        return one.target < other.target
      }
    }
  }
}

extension CoreDataCatalog {
  /// The hierarchy of the entity that a column with an entity's number holds.
  func root(_ value: SQLValue) -> String? {
    guard case .integer(let number) = value else { return nil }
    return entities[number]?.root
  }
}

extension SQLValue {
  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
}

/// An SQL identifier in quotes.
func quotedName(_ name: String) -> String {
  "\"\(name.replacing("\"", with: "\"\""))\""
}
