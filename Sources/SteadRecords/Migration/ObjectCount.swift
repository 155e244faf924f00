/// Counts a store's objects, by the schema that it has in its metadata.
struct ObjectCount {
  let connection: StoreConnection
  let schema: Schema

  /// The objects of each entity that the store has a table for; costs a look at each row.
  func run(_ report: MigrationReporter) throws -> [String: Int] {
    let tables = try StoreCatalog(connection).columns
    var counts: [String: Int] = [:]
    for (index, entity) in schema.entities.enumerated() {
      try report(.counting, index, of: schema.entities.count)
      guard let columns = tables[entity.root.name] else { continue }
      let only = columns["_entity"] == nil ? "" : " WHERE \"_entity\" = \(index + 1)"
      counts[entity.name] = try connection.integer(
        "SELECT count(*) FROM \(entity.root.name.sqlName)\(only)"
      ).map(Int.init)
    }
    return counts
  }

  /// The counts before and afterwards, by name.
  static func compare(_ before: [String: Int], _ after: [String: Int]) -> [StoreMigration.Count] {
    Set(before.keys).union(after.keys).sorted().map {
      StoreMigration.Count(entity: $0, before: before[$0], after: after[$0])
    }
  }
}
