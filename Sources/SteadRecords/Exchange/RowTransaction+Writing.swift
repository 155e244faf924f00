import Foundation
import SteadSQLite

extension RowTransaction {
  /// Inserts a row with the values of its shape's columns.
  ///
  /// - Throws: ``SwiftDataError`` `.modelValidationFailure` if a unique value is taken.
  ///
  /// An INSERT, not an INSERT OR REPLACE: an existing row is never replaced.
  package func insert(_ values: [SQLValue], as number: Int64, of shape: RowShape) throws {
    let statement = try statement(inserting: shape)
    statement.reset()
    statement.bind(number, at: 1)
    for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 2)) }
    try statement.run()
    connection.changes.record(.insert, entity(of: shape), row: number)
  }

  /// Gives a row the values of its shape's columns; removes a file that it no longer refers to.
  package func update(_ values: [SQLValue], of number: Int64, in shape: RowShape) throws {
    let external = Set(shape.attributes.filter(\.isExternal).map(\.name))
    if !external.isEmpty, let old = try self.values(of: shape, number) {
      for (column, value) in zip(shape.columns, old) where external.contains(column) {
        // Also a file that the new values name: before files are removed, it is asked whether a row refers to them.
        dropFile(value)
      }
    }
    // All columns are set, so that one statement serves any change.
    let terms = shape.columns.enumerated().map { "\($1.sqlName) = ?\($0 + 2)" }
    try connection.run(
      "UPDATE \(shape.root.sqlName) SET \(terms.joined(separator: ", ")) WHERE \"_id\" = ?1",
      [.integer(number)] + values)
    let entity = entity(of: shape)
    connection.changes.record(
      .update, entity, row: number,
      properties: PropertySet(entity.properties.filter { $0.column != nil }.map(\.index)))
  }

  /// The row of the hierarchy that has some values in some columns of a shape.
  ///
  /// nil if there is none. Unique values are those of the hierarchy, so the row may be of another
  /// class.
  package func row(with values: [SQLValue], in columns: [String], of shape: RowShape) throws
    -> Int64?
  {
    try connection.row(in: shape.root, columns, values, readsClass: false)?.row
  }

  /// Adds a pair to a list unless it is in the list.
  ///
  /// A pair that is in the list keeps its places.
  package func insert(_ pair: RowPair, into list: PairList) throws {
    // Not SQLite's next number, which may be another pair's place.
    let number = try connection.nextNumber(in: list.table)
    try connection.run(
      "INSERT INTO \(list.table.sqlName) (\"_id\", owner, target, owner_order, target_order) "
        + "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
      [
        .integer(number), .integer(pair.owner), .integer(pair.target),
        pair.ownerOrder.map { .integer($0) } ?? .null,
        pair.targetOrder.map { .integer($0) } ?? .null,
      ])
    if connection.changedRows > 0 { try recordUpdates(of: pair, in: list) }
  }

  /// Records an update of each of a pair's rows that has a relationship of the list, for the history.
  func recordUpdates(of pair: RowPair, in list: PairList) throws {
    let layout = rows.container.layout
    for (isOwner, number) in [(true, pair.owner), (false, pair.target)] {
      for shape in rows.shapes.values {
        let relationship = shape.relationships.first {
          $0.storage == .pairs(list, isOwner: isOwner)
        }
        guard let relationship else { continue }
        // Only by the shape of the row's own class: a superclass has the relationship, too.
        let found = try connection.entity(of: number, in: entity(of: shape), layout)
        guard let found, found.name == shape.name,
          let property = found.property(named: relationship.name)
        else { continue }
        connection.changes.record(
          .update, found, row: number, properties: PropertySet([property.index]))
      }
    }
  }

  /// The entity of a shape.
  func entity(of shape: RowShape) -> EntityLayout {
    rows.container.layout.entities[shape.index]
  }

  /// Sets a column of a row if it holds one of some values (compare and set); returns false if it does not, or the row
  /// does not exist.
  ///
  /// Compared in the UPDATE itself, so no other change comes in between.
  package func set(
    _ column: String, of number: Int64, in shape: RowShape, to value: SQLValue,
    from accepted: [SQLValue]
  ) throws -> Bool {
    let name = column.sqlName
    // IS, since NULL may be among the values.
    let tests = accepted.indices.map { "\(name) IS ?\($0 + 3)" }.joined(separator: " OR ")
    try connection.run(
      "UPDATE \(shape.root.sqlName) SET \(name) = ?1 WHERE \"_id\" = ?2\(shape.test) AND (\(tests))",
      [value, .integer(number)] + accepted)
    guard connection.changedRows == 1 else { return false }
    let entity = entity(of: shape)
    // Other columns hold a row's position in its owner's list.
    if let property = entity.property(named: column) {
      connection.changes.record(
        .update, entity, row: number, properties: PropertySet([property.index]))
    }
    return true
  }

  /// Clears an attribute of bytes, to `nil` or to no bytes, in a row that still holds a value; returns false if the row
  /// does not exist. Removes the file that held the bytes.
  package func clear(
    _ attribute: RowShape.Attribute, of number: Int64, in shape: RowShape, holding value: SQLValue
  ) throws -> Bool {
    // A required attribute has no nil, so it is left without bytes.
    let empty: SQLValue = attribute.isOptional ? .null : .blob(Data())
    let isCleared = try set(attribute.name, of: number, in: shape, to: empty, from: [value])
    if isCleared { dropFile(value) }
    return isCleared
  }

  /// A number that no row of the hierarchy has or ever had.
  package func newNumber(in shape: RowShape) throws -> Int64 {
    try connection.nextNumber(of: rows.container.plan(of: shape.index))
  }

  // MARK: Changes from elsewhere

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
    connection.changes.record(
      .update, entity, row: number,
      properties: PropertySet(values.compactMap { entity.property(named: $0.column)?.index }))
  }

  /// Clears values of a row, so that another row can have them. Not recorded in the history, since other values follow.
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
  ///
  /// Invariant: afterwards no column and no pair of the store has the number, and the number is retired, so that no later
  /// row gets it. The rows that have referred to it are recorded as updated before the deletion itself is.
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
          try recordUpdate(of: relationship.name, row, in: other)
        }
      }
    }
    // Before the row is gone: the history keeps some of its values.
    try connection.noteDeletion(of: number, entity)
    try connection.retiringNumbers(of: shape.root) {
      try connection.run(
        "DELETE FROM \(shape.root.sqlName) WHERE \"_id\" = ?1", [.integer(number)])
    }
  }

  /// The relationships of all entities that are stored, in a fixed order.
  ///
  /// Each column and each table of pairs is there once: a subclass inherits it, and both sides of a relationship are
  /// stored in one place.
  var storedRelationships: [(shape: RowShape, relationship: RowShape.Relationship)] {
    var result: [String: (shape: RowShape, relationship: RowShape.Relationship)] = [:]
    for shape in rows.shapes.values {
      for relationship in shape.relationships {
        switch relationship.storage {
        case .column: result["\(shape.root).\(relationship.name)"] = (shape, relationship)
        case .pairs(let list, isOwner: true): result[list.table] = (shape, relationship)
        // The other side of a relationship, which is stored once.
        default: continue
        }
      }
    }
    return result.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Removes all pairs of a row from a list, one by one, so that each destination is recorded as updated.
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
    let isRemoved = try connection.retiringNumbers(of: list.table) {
      try connection.run(
        "DELETE FROM \(list.table.sqlName) WHERE owner = ?1 AND target = ?2",
        [.integer(pair.owner), .integer(pair.target)])
      return connection.changedRows > 0
    }
    if isRemoved { try recordUpdates(of: pair, in: list) }
  }

  /// Records an update of a row whose list has changed; the list itself is stored in its destinations' rows.
  ///
  /// - Parameters:
  ///   - relationship: The to-one relationship of those rows.
  ///   - owner: The row whose list it is.
  package func noteList(of relationship: RowShape.Relationship, owner: Int64) throws {
    guard let shape = rows.shapes[relationship.destination] else { return }
    let lists = relationship.lists.map(\.name)
    let inverse = relationship.inverse.map { [$0] } ?? []
    // Of several lists it is unknown here which one the row has left.
    for name in lists.isEmpty ? inverse : lists {
      try recordUpdate(of: name, owner, in: shape)
    }
  }

  /// Records an update of a row of a shape's hierarchy, if its class has the property.
  private func recordUpdate(of property: String, _ row: Int64, in shape: RowShape) throws {
    let declared = entity(of: shape)
    let found = try connection.entity(of: row, in: declared, rows.container.layout)
    guard let found, let property = found.property(named: property) else { return }
    connection.changes.record(
      .update, found, row: row, properties: PropertySet([property.index]))
  }
}

// MARK: - Receipts

/// The receipt of a piece of work has its own row, and its entries are stored separately in chunks.
extension RowTransaction {
  /// The receipt of a piece of work, without its entries; nil if none exists.
  package func receipt(named id: String) throws -> StoreReceipt? {
    try ReceiptTable(connection).receipt(named: id)
  }

  /// Stores a receipt instead of the one stored under its name; its entries stay as they are.
  package func save(_ receipt: StoreReceipt) throws {
    try ReceiptTable(connection).save(receipt)
  }

  /// Which of a receipt's entries each chunk has, for chunks that begin at or after a given one.
  package func receiptChunks(of id: String, from first: Int) throws -> [Range<Int>] {
    try ReceiptTable(connection).chunks(of: id, from: first)
  }

  /// A chunk by its first entry; nil if none begins there.
  package func receiptEntries(of id: String, at first: Int) throws -> Data? {
    try ReceiptTable(connection).entries(of: id, at: first)
  }

  /// Stores a chunk instead of those that begin within its range.
  package func saveReceiptEntries(_ entries: Data, of id: String, at range: Range<Int>) throws {
    try ReceiptTable(connection).save(entries, of: id, at: range)
  }

  /// Removes the chunks that begin within a range.
  package func removeReceiptEntries(of id: String, in range: Range<Int>) throws {
    try ReceiptTable(connection).removeChunks(of: id, in: range)
  }
}
