import SteadRecords
import SteadSQLite

/// Counts the contents of a store that no property takes.
struct CoreDataOmissions {
  /// The copy of the store.
  let store: ForeignStore
  /// The store's entities, tables and columns.
  let catalog: CoreDataCatalog
  /// What the caller leaves out.
  let mapping: CoreDataMapping

  /// The columns of each table of rows that aren't properties: number, entity, version.
  private static let systemColumns: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]

  /// The numbers of values that are not imported, by column or table: those that the mapping leaves
  /// out, and the others.
  struct Omitted {
    var requested: [String: Int] = [:]
    var unmapped: [String: Int] = [:]
  }

  /// The rows in tables of Core Data itself, and in tables that aren't its own.
  func skippedTables() throws -> [String: Int] {
    let own = catalog.entities.values.filter { $0.isInternal && !$0.table.isEmpty }.map(\.table)
    // Tables that an app has added itself are counted, too.
    let foreign = catalog.unknownTables.filter { !catalog.hasModelName($0) }
    var result: [String: Int] = [:]
    for table in Set(own + foreign) { result[table] = try count(table) }
    return result
  }

  /// The number of rows in a table.
  private func count(_ table: String) throws -> Int {
    try Int(store.rows("SELECT count(*) FROM \(table.sqlName)").first?.first?.integer ?? 0)
  }

  /// The values without a property.
  func leftOutValues(_ plans: [Int64: CoreDataClassPlan]) throws -> Omitted {
    var omitted = Omitted()
    let referred = Self.referredColumns(plans)
    for plan in plans.values {
      for (column, count) in try values(besides: plan, referred) {
        let name = "\(plan.entity.name).\(column)"
        if mapping.isLeftOut(column.uppercased(), of: plan.className) {
          omitted.requested[name] = count
        } else {
          omitted.unmapped[name] = count
        }
      }
    }
    try addPairs(plans, to: &omitted)
    // A table that is named like those of a model, and has no entity.
    for table in catalog.unknownTables where catalog.hasModelName(table) {
      if case let count = try count(table), count > 0 { omitted.unmapped[table] = count }
    }
    return omitted
  }

  /// The columns with values of an entity's rows that no property of its class takes.
  private func values(
    besides plan: CoreDataClassPlan, _ referred: [String: Set<String>]
  ) throws -> [(String, Int)] {
    let all = catalog.columns[plan.entity.table] ?? []
    let names = Set(all.map { $0.uppercased() })
    let referred = referred[plan.entity.table] ?? []
    let columns = all.filter { column in
      let upper = column.uppercased()
      if Self.systemColumns.contains(upper) || upper.hasPrefix("Z_FOK_") { return false }
      if plan.claimed.contains(upper) || referred.contains(upper) { return false }
      // `Z4_OWNER` has the entity of the row whose number is in `ZOWNER`.
      guard let (_, name) = CoreDataPairs.numbered(upper, after: "Z"), name.hasPrefix("_") else {
        return true
      }
      return !names.contains("Z" + name.dropFirst())
    }
    if columns.isEmpty { return [] }
    // `count` of a column leaves out NULL, which loses nothing.
    let counts = columns.map { "count(\($0.sqlName))" }.joined(separator: ", ")
    let row = try store.rows(
      "SELECT \(counts) FROM \(plan.entity.table.sqlName) WHERE Z_ENT = ?1",
      [.integer(plan.entity.number)])
    return zip(columns, row.first ?? []).compactMap { column, value in
      value.integer.flatMap { $0 > 0 ? (column, Int($0)) : nil }
    }
  }

  /// For each table, the foreign keys that are read from the other side of their relationships.
  private static func referredColumns(
    _ plans: [Int64: CoreDataClassPlan]
  ) -> [String: Set<String>] {
    var result: [String: Set<String>] = [:]
    for relationship in plans.values.flatMap(\.relationships) {
      guard case .other(let reference) = relationship.storage else { continue }
      result[reference.table, default: []].insert(reference.column.uppercased())
    }
    return result
  }

  /// Counts the pairs of join tables that no relationship takes.
  private func addPairs(_ plans: [Int64: CoreDataClassPlan], to omitted: inout Omitted) throws {
    let claimed = plans.values.reduce(into: Set<String>()) { $0.formUnion($1.claimed) }
    for (table, columns) in catalog.columns {
      guard let pairs = CoreDataPairs(table, columns) else { continue }
      let names = pairs.sides.map { "\(table).\($0.column)".uppercased() }
      // A relationship takes a join table as a whole, from either side.
      guard claimed.isDisjoint(with: names), case let count = try count(table), count > 0 else {
        continue
      }
      let isRequested = pairs.sides.contains { side in
        plans.values.contains { mapping.isLeftOut(side.relationship, of: $0.className) }
          || catalog.entities[side.entity].map { mapping.leftOutEntities.contains($0.name) } == true
      }
      if isRequested { omitted.requested[table] = count } else { omitted.unmapped[table] = count }
    }
  }
}
