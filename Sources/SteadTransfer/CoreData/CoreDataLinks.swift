import SteadRecords
import SteadSQLite

/// Reads which rows refer to which, each foreign key and each join table once.
struct CoreDataLinks {
  /// A destination and its position.
  private struct Link {
    let target: Int64
    let order: Int64?
  }

  /// The destinations of each row.
  private typealias Targets = [StoredRow.Key: [Link]]

  /// The copy of the store.
  private let store: ForeignStore
  /// The store's entities, tables and columns.
  private let catalog: CoreDataCatalog
  /// The columns of relationships.
  private let planner: CoreDataPlanner
  /// What was read so far.
  private var targetsByStorage: [CoreDataClassPlan.Relationship.Storage: Targets] = [:]

  init(_ store: ForeignStore, _ catalog: CoreDataCatalog, _ planner: CoreDataPlanner) {
    self.store = store
    self.catalog = catalog
    self.planner = planner
  }

  /// The rows that a relationship leads to which isn't in the row's own columns, in order.
  mutating func targets(
    of relationship: CoreDataClassPlan.Relationship, from row: StoredRow.Key
  ) throws -> [StoredRow.Key] {
    // Once for all rows: a query for each row would be N+1 queries.
    if targetsByStorage[relationship.storage] == nil {
      targetsByStorage[relationship.storage] = try read(relationship.storage)
    }
    let links = targetsByStorage[relationship.storage]?[row] ?? []
    return links.map { StoredRow.Key(root: relationship.destination, number: $0.target) }
  }

  /// Reads a column or a join table.
  private func read(_ storage: CoreDataClassPlan.Relationship.Storage) throws -> Targets {
    switch storage {
    case .own: [:]
    case .other(let reference): try sorted(read(reference))
    case .pairs(let table, let own, let other, let isReflexive):
      try sorted(readPairs(table, own, other, isReflexive))
    }
  }

  /// Reads a foreign key, from the destinations' side.
  private func read(_ reference: CoreDataClassPlan.Reference) throws -> Targets {
    let order = reference.orderColumn.map(\.sqlName) ?? "NULL"
    let entity = reference.entityColumn.map(\.sqlName) ?? "NULL"
    let numbers = reference.entities.sorted().map(String.init).joined(separator: ", ")
    let column = reference.column.sqlName
    var result: Targets = [:]
    try store.forEachRow(
      "SELECT Z_PK, \(column), \(order), \(entity) FROM \(reference.table.sqlName) "
        + "WHERE \(column) IS NOT NULL AND Z_ENT IN (\(numbers))"
    ) { row in
      // A value of another type is found when the row itself is read, and makes that fail.
      guard case .integer(let child) = row[0], case .integer(let parent) = row[1] else { return }
      // In a hierarchy the other row's entity is in a column of its own.
      let root = catalog.root(row[3]) ?? reference.destination
      result[StoredRow.Key(root: root, number: parent), default: []].append(
        Link(target: child, order: row[2].integer))
    }
    return result
  }

  /// Reads a join table from one side, or from both if the relationship is its own inverse.
  private func readPairs(
    _ table: String, _ own: String, _ other: String, _ isReflexive: Bool
  ) throws -> Targets {
    guard let pairs = CoreDataPairs(table, catalog.columns[table] ?? []),
      let side = pairs.sides.first(where: { $0.column == own }),
      let root = catalog.entities[side.entity]?.root
    else { return [:] }
    let order = planner.order(of: other, in: table).map(\.sqlName) ?? "NULL"
    var result: Targets = [:]
    func add(_ owner: Int64, _ target: Int64, _ order: Int64?) {
      let key = StoredRow.Key(root: root, number: owner)
      // Such a relationship may store a pair in both directions.
      guard isReflexive, result[key]?.contains(where: { $0.target == target }) == true else {
        result[key, default: []].append(Link(target: target, order: order))
        return
      }
    }
    try store.forEachRow(
      "SELECT \(own.sqlName), \(other.sqlName), \(order) FROM \(table.sqlName)"
    ) { row in
      guard case .integer(let owner) = row[0], case .integer(let target) = row[1] else {
        throw CoreDataCatalog.damaged("\(table) has a row that isn't a pair.")
      }
      add(owner, target, row[2].integer)
      // The other direction has no position of its own.
      if isReflexive { add(target, owner, nil) }
    }
    return result
  }

  /// Sorts destinations by position, those without one last, then by number.
  private func sorted(_ targets: Targets) -> Targets {
    targets.mapValues { links in
      links.sorted { one, other in
        // Several may have one position, or none, so their numbers decide then.
        if one.order != other.order { return (one.order ?? .max) < (other.order ?? .max) }
        return one.target < other.target
      }
    }
  }
}

extension CoreDataCatalog {
  /// The hierarchy of the entity whose number a column has.
  func root(_ value: SQLValue) -> String? {
    guard case .integer(let number) = value else { return nil }
    return entities[number]?.root
  }
}

extension SQLValue {
  /// The integer; nil for another type.
  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
}
