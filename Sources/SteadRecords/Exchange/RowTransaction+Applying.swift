import SteadSQLite

// What applies changes that came from elsewhere, one row after the other.

extension RowTransaction {
  /// A prepared statement of the connection, shared by all callers with the same SQL.
  ///
  /// For the caller's own tables, whose names begin with `stead_`. It is rewound.
  package func statement(_ sql: String) throws -> SQLiteStatement {
    let statement = try connection.statement(sql)
    statement.reset()
    return statement
  }

  /// Runs the caller's own statements that return nothing.
  package func execute(_ sql: String) throws { try connection.execute(sql) }

  /// The number of rows that the last of these statements changed.
  package var changedRows: Int { connection.changedRows }

  /// Sets some columns of a row, by their names.
  package func set(
    _ values: [(column: String, value: SQLValue)], of number: Int64, in shape: RowShape
  ) throws {
    if values.isEmpty { return }
    let terms = values.enumerated().map { "\($1.column.sqlName) = ?\($0 + 2)" }
    try connection.run(
      "UPDATE \(shape.root.sqlName) SET \(terms.joined(separator: ", ")) WHERE \"_id\" = ?1",
      [.integer(number)] + values.map(\.value))
    let entity = entity(of: shape)
    connection.changes.note(
      .update, entity, row: number,
      properties: PropertySet(values.compactMap { entity.property(named: $0.column)?.index }))
  }

  /// Clears values of a row, so that another row can have them; not noted, since other values follow.
  package func clear(_ columns: [String], of number: Int64, in shape: RowShape) throws {
    try connection.clear(columns, in: shape.root, row: number)
  }

  /// The entity of a row of a shape's hierarchy; nil if the row does not exist.
  package func entityName(of number: Int64, in shape: RowShape) throws -> String? {
    try connection.entity(of: number, in: entity(of: shape), rows.container.layout)?.name
  }

  /// Releases the file that a column of an external attribute names, unless other rows refer to it.
  package func drop(external value: SQLValue) { dropFile(value) }

  /// Deletes a row with its pairs; references to it become NULL. No delete rule is applied.
  package func delete(_ number: Int64, of shape: RowShape) throws {
    let entity = entity(of: shape)
    for attribute in shape.attributes where attribute.isExternal {
      if let old = try value(of: attribute.name, in: shape, number) { dropFile(old) }
    }
    for (other, relationship) in storedRelationships {
      let leadsHere = relationship.destinationRoot == shape.root
      if case .pairs(let list, _) = relationship.storage {
        if other.root == shape.root { try removePairs(of: number, isOwner: true, in: list) }
        if leadsHere { try removePairs(of: number, isOwner: false, in: list) }
      } else if leadsHere {
        for row in try connection.clearReferences(
          in: other.root, relationship.name, to: number, of: "")
        {
          try noteUpdate(of: relationship.name, row, in: other)
        }
      }
    }
    try connection.noteDeletion(of: number, entity)
    try connection.retire(number, table: shape.root)
    try connection.run(
      "DELETE FROM \(shape.root.sqlName) WHERE \"_id\" = ?1", [.integer(number)])
  }

  /// All relationships that have their own storage, each storage once.
  private var storedRelationships: [(shape: RowShape, relationship: RowShape.Relationship)] {
    var result: [String: (shape: RowShape, relationship: RowShape.Relationship)] = [:]
    for shape in rows.shapes.values {
      for relationship in shape.relationships {
        switch relationship.storage {
        case .column: result["\(shape.root).\(relationship.name)"] = (shape, relationship)
        case .pairs(let list, isOwner: true): result[list.table] = (shape, relationship)
        default: continue
        }
      }
    }
    return Array(result.values)
  }

  private func removePairs(of number: Int64, isOwner: Bool, in list: PairList) throws {
    let targets = try destinations(in: list, of: number, isOwner: isOwner)
    for target in targets {
      try remove(
        isOwner
          ? RowPair(owner: number, target: target, ownerOrder: nil, targetOrder: nil)
          : RowPair(owner: target, target: number, ownerOrder: nil, targetOrder: nil), from: list)
    }
  }

  /// Removes a pair of two rows from a list if it is in the list.
  package func remove(_ pair: RowPair, from list: PairList) throws {
    try connection.run(
      "DELETE FROM \(list.table.sqlName) WHERE owner = ?1 AND target = ?2",
      [.integer(pair.owner), .integer(pair.target)])
    if connection.changedRows > 0 { try noteUpdates(of: pair, in: list) }
  }

  /// Notes that a row's list has changed, which is stored in its destinations' rows.
  ///
  /// - Parameters:
  ///   - relationship: The to-one relationship of those rows.
  ///   - owner: The row whose list it is.
  package func noteList(of relationship: RowShape.Relationship, owner: Int64) throws {
    guard let shape = rows.shapes[relationship.destination] else { return }
    let lists = relationship.lists.map(\.name)
    let inverse = relationship.inverse.map { [$0] } ?? []
    for name in lists.isEmpty ? inverse : lists {
      try noteUpdate(of: name, owner, in: shape)
    }
  }

  private func noteUpdate(of property: String, _ row: Int64, in shape: RowShape) throws {
    let declared = entity(of: shape)
    let found = try connection.entity(of: row, in: declared, rows.container.layout)
    guard let found, let property = found.property(named: property) else { return }
    connection.changes.note(
      .update, found, row: row, properties: PropertySet([property.index]))
  }
}

extension RowTransaction {
  /// Calls a body with the number of each row of an entity; rows of its subclasses are left out.
  package func forEachNumber(of shape: RowShape, _ body: (Int64) throws -> Void) throws {
    try forEach(
      "SELECT \"_id\" FROM \(shape.root.sqlName) WHERE true\(shape.test) ORDER BY \"_id\""
    ) { row in
      if case .integer(let number) = row[0] { try body(number) }
    }
  }
}
