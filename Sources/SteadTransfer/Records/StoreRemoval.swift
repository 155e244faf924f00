import SteadRecords

/// Deletes rows that still hold what was moved.
struct StoreRemoval {
  /// How many of the rows that stay are told in an error.
  static let toldLimit = 5

  private let rows: RowTransaction
  private let shapes: [RowShape]

  init(_ rows: RowTransaction, _ entities: Set<String>?) {
    self.rows = rows
    shapes = StoreReading(rows, entities).shapes
  }

  /// Returns how many rows were deleted.
  func run(_ identities: [String]) throws -> Int {
    let found = try unchanged(identities)
    guard !found.isEmpty else { return 0 }
    // In a table of its own, so that what leads to the rows is found by joins.
    try rows.run(
      "CREATE TEMP TABLE IF NOT EXISTS stead_moved (root TEXT, number INTEGER, "
        + "PRIMARY KEY (root, number)) WITHOUT ROWID")
    try rows.run("DELETE FROM temp.stead_moved")
    for (shape, number) in found {
      try rows.run(
        "INSERT INTO temp.stead_moved VALUES (?1, ?2)", [.text(shape.root), .integer(number)])
    }
    try refuseLosses()
    try delete()
    try rows.run("DELETE FROM temp.stead_moved")
    return found.count
  }

  /// The rows that hold what their identities say.
  private func unchanged(_ identities: [String]) throws -> [(shape: RowShape, number: Int64)] {
    var byRoot: [String: [RowShape]] = [:]
    for shape in shapes { byRoot[shape.root, default: []].append(shape) }
    return try Set(identities).sorted().compactMap { identity in
      guard let key = StoredRow.Key(identity: identity) else { return nil }
      for shape in byRoot[key.root] ?? [] {
        guard let values = try rows.values(of: shape, key.number) else { continue }
        let digest = shape.digest(values, try shape.pairs(of: key.number, in: rows))
        return key.identity(digest: digest) == identity ? (shape, key.number) : nil
      }
      return nil
    }
  }

  private func isMoved(_ root: String, _ column: String) -> String {
    "EXISTS (SELECT 1 FROM temp.stead_moved AS m WHERE m.root = '\(root.replacing("'", with: "''"))' "
      + "AND m.number = \(column))"
  }

  /// All relationships of the store with the tables that they lie in, each once.
  private var relationships: [String: (RowShape, RowShape.Relationship)] {
    var result: [String: (RowShape, RowShape.Relationship)] = [:]
    for shape in rows.rows.shapes.values {
      for relationship in shape.relationships {
        switch relationship.storage {
        case .column: result["\(shape.root).\(relationship.name)"] = (shape, relationship)
        case .pairs(let table, "owner", _): result[table] = (shape, relationship)
        default: continue
        }
      }
    }
    return result
  }

  /// Throws when a row that stays leads to one that goes.
  private func refuseLosses() throws {
    var failures: [TransferFailure] = []
    for (_, (shape, relationship)) in relationships.sorted(by: { $0.key < $1.key }) {
      let target = relationship.destinationRoot
      let sql: String
      if case .pairs(let table, _, _) = relationship.storage {
        sql =
          "SELECT owner FROM \(quoted(table)) "
          + "WHERE \(isMoved(shape.root, "owner")) <> \(isMoved(target, "target")) "
      } else {
        let column = "t.\(quoted(relationship.name))"
        sql =
          "SELECT t.\"_id\" FROM \(quoted(shape.root)) AS t WHERE \(column) IS NOT NULL "
          + "AND \(isMoved(target, column)) AND NOT \(isMoved(shape.root, "t.\"_id\"")) "
      }
      for row in try rows.select(sql + "LIMIT \(Self.toldLimit)") {
        guard case .integer(let number) = row[0] else { continue }
        failures.append(
          .init(
            item: "\(shape.name) \(number)",
            reason: "it or what \(relationship.name) leads to stays in the store"))
      }
    }
    guard failures.isEmpty else {
      throw TransferError(
        code: .conflict,
        message: "Rows that stay would lose rows that they lead to, so none was removed from the "
          + "store. Move these, too, or keep the source.", failures: failures)
    }
  }

  private func delete() throws {
    for (_, (shape, relationship)) in relationships {
      guard case .pairs(let table, _, _) = relationship.storage else { continue }
      try rows.run("DELETE FROM \(quoted(table)) WHERE \(isMoved(shape.root, "owner"))")
    }
    for root in Set(shapes.map(\.root)).sorted() {
      let family = rows.rows.shapes.values.filter { $0.root == root }
      let table = quoted(root)
      for attribute in Set(family.flatMap(\.attributes).filter(\.isExternal).map(\.name)).sorted() {
        try rows.forEach(
          "SELECT \(quoted(attribute)) FROM \(table) WHERE typeof(\(quoted(attribute))) = 'text' "
            + "AND \(isMoved(root, "\(table).\"_id\""))"
        ) { rows.dropFile($0[0]) }
      }
      let newest = try rows.integer("SELECT max(\"_id\") FROM \(table)") ?? 0
      if newest > 0, let shape = family.first { try rows.retire(newest, in: shape) }
      try rows.run("DELETE FROM \(table) WHERE \(isMoved(root, "\(table).\"_id\""))")
    }
  }
}
