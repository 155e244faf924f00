import Foundation
import SteadSQLite

extension RowTransaction {
  /// Inserts a row with the values of its shape's columns.
  ///
  /// - Throws: ``SwiftDataError`` `.modelValidationFailure` if a unique value is taken.
  package func insert(_ values: [SQLValue], as number: Int64, of shape: RowShape) throws {
    let statement = try statement(inserting: shape)
    statement.reset()
    statement.bind(number, at: 1)
    for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 2)) }
    try statement.run()
    connection.changes.note(.insert, entity(of: shape), row: number)
  }

  /// Gives a row the values of its shape's columns; removes a file that it no longer refers to.
  package func update(_ values: [SQLValue], of number: Int64, in shape: RowShape) throws {
    let external = Set(shape.attributes.filter(\.isExternal).map(\.name))
    if !external.isEmpty, let old = try self.values(of: shape, number) {
      for (column, value) in zip(shape.columns, old) where external.contains(column) {
        dropFile(value)
      }
    }
    let terms = shape.columns.enumerated().map { "\($1.sqlName) = ?\($0 + 2)" }
    try connection.run(
      "UPDATE \(shape.root.sqlName) SET \(terms.joined(separator: ", ")) WHERE \"_id\" = ?1",
      [.integer(number)] + values)
    let entity = entity(of: shape)
    connection.changes.note(
      .update, entity, row: number,
      properties: PropertySet(entity.properties.filter { $0.column != nil }.map(\.index)))
  }

  /// The row of the hierarchy that has some values in some columns of a shape.
  package func row(with values: [SQLValue], in columns: [String], of shape: RowShape) throws
    -> Int64?
  {
    try connection.row(in: shape.root, columns, values, readsClass: false)?.row
  }

  /// Adds a pair to a list unless it is in the list.
  package func insert(_ pair: RowPair, into list: PairList) throws {
    try connection.run(
      "INSERT INTO \(list.table.sqlName) (owner, target, owner_order, target_order) "
        + "VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
      [
        .integer(pair.owner), .integer(pair.target),
        pair.ownerOrder.map { .integer($0) } ?? .null,
        pair.targetOrder.map { .integer($0) } ?? .null,
      ])
    if connection.changedRows > 0 { try noteUpdates(of: pair, in: list) }
  }

  /// Notes an update of each of a pair's rows that has a relationship of the list.
  func noteUpdates(of pair: RowPair, in list: PairList) throws {
    let layout = rows.container.layout
    for (isOwner, number) in [(true, pair.owner), (false, pair.target)] {
      for shape in rows.shapes.values {
        let relationship = shape.relationships.first {
          $0.storage == .pairs(list, isOwner: isOwner)
        }
        guard let relationship else { continue }
        let found = try connection.entity(of: number, in: entity(of: shape), layout)
        guard let found, found.name == shape.name,
          let property = found.property(named: relationship.name)
        else { continue }
        connection.changes.note(
          .update, found, row: number, properties: PropertySet([property.index]))
      }
    }
  }

  func entity(of shape: RowShape) -> EntityLayout {
    rows.container.layout.entities[shape.index]
  }

  /// Sets a column of a row if it holds one of some values; returns false if the row does not exist.
  package func set(
    _ column: String, of number: Int64, in shape: RowShape, to value: SQLValue,
    from accepted: [SQLValue]
  ) throws -> Bool {
    let name = column.sqlName
    let tests = accepted.indices.map { "\(name) IS ?\($0 + 3)" }.joined(separator: " OR ")
    try connection.run(
      "UPDATE \(shape.root.sqlName) SET \(name) = ?1 WHERE \"_id\" = ?2\(shape.test) AND (\(tests))",
      [value, .integer(number)] + accepted)
    guard connection.changedRows == 1 else { return false }
    let entity = entity(of: shape)
    // Other columns hold a row's position in its owner's list.
    if let property = entity.property(named: column) {
      connection.changes.note(
        .update, entity, row: number, properties: PropertySet([property.index]))
    }
    return true
  }

  /// Clears an attribute of bytes, to `nil` or to no bytes, in a row that still holds a value; returns false if the row
  /// does not exist. Removes the file that held the bytes.
  package func clear(
    _ attribute: RowShape.Attribute, of number: Int64, in shape: RowShape, holding value: SQLValue
  ) throws -> Bool {
    let empty: SQLValue = attribute.isOptional ? .null : .blob(Data())
    let isCleared = try set(attribute.name, of: number, in: shape, to: empty, from: [value])
    if isCleared { dropFile(value) }
    return isCleared
  }

  /// A number that no row of the hierarchy has or ever had.
  package func newNumber(in shape: RowShape) throws -> Int64 {
    try connection.nextNumber(of: rows.container.planByEntity[shape.index])
  }
}
