import SteadSQLite

/// Why rows were not removed: rows that stay lead to them, or the other way around.
package struct RowLosses: Error {
  /// A row, and the relationship that would lose it or a row that it leads to.
  package typealias Loss = (entity: String, number: Int64, relationship: String)

  /// The most losses that are listed for one relationship.
  static let limit = 5

  /// The losses that would happen, at most ``limit`` of each relationship.
  package let losses: [Loss]
}

extension RowTransaction {
  /// Deletes rows without applying delete rules, with their pairs and external files.
  ///
  /// - Throws: ``RowLosses`` if a row that stays leads to one of them; then nothing is deleted.
  package func remove(_ removed: [(shape: RowShape, number: Int64)]) throws {
    try RowRemoval(self).run(removed)
  }
}

/// Deletes rows that no row which stays refers to: a group of rows as a whole.
///
/// The numbers are in a temporary table, so that one join for each relationship finds what leads from or to them, however
/// many they are.
private struct RowRemoval {
  /// The transaction in which rows are removed.
  private let rows: RowTransaction
  /// Its connection, which also has the temporary table.
  private let connection: StoreConnection

  init(_ rows: RowTransaction) {
    self.rows = rows
    connection = rows.connection
  }

  /// Deletes the rows, after it is certain that none that stays refers to them. Deletions are recorded first, with
  /// the values that the history preserves.
  func run(_ removed: [(shape: RowShape, number: Int64)]) throws {
    if removed.isEmpty { return }
    // Rows of several hierarchies have the same numbers, hence the root in the key.
    try connection.run(
      "CREATE TEMP TABLE IF NOT EXISTS stead_removed (root TEXT, number INTEGER, "
        + "PRIMARY KEY (root, number)) WITHOUT ROWID")
    // An earlier removal that was refused may have left its rows.
    try connection.run("DELETE FROM temp.stead_removed")
    for (shape, number) in removed {
      try connection.run(
        "INSERT INTO temp.stead_removed VALUES (?1, ?2)", [.text(shape.root), .integer(number)])
    }
    try refuseLosses()
    // Before the rows are gone: the history keeps some of their values.
    for (shape, number) in removed {
      let entity = rows.rows.container.layout.entities[shape.index]
      try connection.noteDeletion(of: number, entity)
    }
    try delete(Set(removed.map(\.shape.root)))
    try connection.run("DELETE FROM temp.stead_removed")
  }

  /// The condition that a row is removed; its root is bound to a parameter.
  private func isRemoved(_ root: Int, _ column: String) -> String {
    "EXISTS (SELECT 1 FROM temp.stead_removed AS r WHERE r.root = ?\(root) "
      + "AND r.number = \(column))"
  }

  /// Throws if a relationship connects a removed row with one that stays.
  ///
  /// A pair counts if one of its two rows is removed. A column counts if a row that stays refers to a removed one: a
  /// removed row may refer to any.
  private func refuseLosses() throws {
    var losses: [RowLosses.Loss] = []
    for (shape, relationship) in rows.storedRelationships {
      let sql: String
      // Unequal: one of the pair's rows is removed, and the other stays.
      if case .pairs(let list, _) = relationship.storage {
        sql =
          "SELECT owner FROM \(list.table.sqlName) "
          + "WHERE \(isRemoved(1, "owner")) <> \(isRemoved(2, "target")) "
      } else {
        let column = "t.\(relationship.name.sqlName)"
        sql =
          "SELECT t.\"_id\" FROM \(shape.root.sqlName) AS t WHERE \(column) IS NOT NULL "
          + "AND NOT \(isRemoved(1, "t.\"_id\"")) AND \(isRemoved(2, column)) "
      }
      let found = try connection.rows(
        sql + "LIMIT \(RowLosses.limit)",
        [.text(shape.root), .text(relationship.destinationRoot)])
      for row in found {
        guard case .integer(let number) = row[0] else { continue }
        losses.append((shape.name, number, relationship.name))
      }
    }
    guard losses.isEmpty else { throw RowLosses(losses: losses) }
  }

  /// Deletes the pairs, the files and the rows. A pair with one removed row has two, since none was refused.
  private func delete(_ roots: Set<String>) throws {
    for (shape, relationship) in rows.storedRelationships {
      guard case .pairs(let list, _) = relationship.storage else { continue }
      try connection.retiringNumbers(of: list.table) {
        try connection.run(
          "DELETE FROM \(list.table.sqlName) WHERE \(isRemoved(1, "owner"))", [.text(shape.root)])
      }
    }
    for root in roots.sorted() {
      let family = rows.rows.shapes.values.filter { $0.root == root }
      let table = root.sqlName
      let test = isRemoved(1, "\(table).\"_id\"")
      // Each column once, although several classes of a hierarchy may have it.
      for attribute in Set(family.flatMap(\.attributes).filter(\.isExternal).map(\.name)).sorted() {
        try rows.forEach(
          "SELECT \(attribute.sqlName) FROM \(table) WHERE typeof(\(attribute.sqlName)) = 'text' "
            + "AND \(test)", [.text(root)]
        ) { rows.dropFile($0[0]) }
      }
      try connection.retiringNumbers(of: root) {
        try connection.run("DELETE FROM \(table) WHERE \(test)", [.text(root)])
      }
    }
  }
}
