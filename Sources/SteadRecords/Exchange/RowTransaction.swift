import Foundation
import SteadSQLite

/// A transaction on a store's rows, valid within the call that passes it.
///
/// It reads and writes what the tables have: no delete rule is applied, no inverse is updated, and no object is notified.
/// Each change is recorded for the history. Statements are prepared once for each shape.
package final class RowTransaction {
  package let rows: StoreRows
  /// The store, whose files large values are in.
  private let store: RecordStore
  /// The connection that has the transaction open.
  let connection: StoreConnection
  /// The files that rows no longer refer to; removed after the commit unless others refer to them.
  private(set) var droppedFiles: Set<String> = []
  /// By entity, the conversion of values, made when it is first needed.
  private var conversions: [String: RowConversion] = [:]
  /// By entity, the statement that selects a row.
  private var selections: [Int: SQLiteStatement] = [:]
  /// By entity, the statement that inserts a row.
  private var insertions: [Int: SQLiteStatement] = [:]
  /// The statement that selects an owner's pairs.
  private var pairSelections: [PairList: SQLiteStatement] = [:]
  /// By entity, what reads the values that an object binds.
  private var bindings: [Int: RowBinding] = [:]

  /// Wraps a connection within its open transaction. Statements end with this object.
  init(_ rows: StoreRows, _ store: RecordStore, _ connection: StoreConnection) {
    self.rows = rows
    self.store = store
    self.connection = connection
  }

  /// The values that the attributes of an entity's row would have, in their order. Writes nothing;
  /// each call makes an object of the entity.
  ///
  /// - Throws: ``RowProblems`` if a value does not have its attribute's type.
  package func convert(
    _ attributes: [String: SQLValue], for shape: RowShape
  ) throws -> [SQLValue] {
    if let conversion = conversions[shape.name] { return try conversion.run(attributes) }
    let conversion = try RowConversion(
      shape, rows.container.layout.entities[shape.index], connection)
    conversions[shape.name] = conversion
    return try conversion.run(attributes)
  }

  /// The column's value for bytes of an external attribute. Large bytes are written to a file now, and the value is its
  /// name; if the transaction is rolled back, the file is removed again.
  package func column(forExternal data: Data) throws -> SQLValue {
    guard let blobs = store.blobs, data.count >= ExternalData.fileThreshold else {
      return .blob(data)
    }
    return .text(try blobs.write(data))
  }

  /// The bytes of an external attribute, by its column's value. Those of a file are mapped, and
  /// compared with its name.
  ///
  /// - Throws: If the file is gone or damaged.
  package func bytes(ofExternal value: SQLValue) throws -> SQLValue {
    guard case .text(let reference) = value, let blobs = store.blobs else { return value }
    return .blob(try blobs.map(reference))
  }

  /// Releases a file with this transaction, unless other rows refer to it.
  func dropFile(_ value: SQLValue) {
    if case .text(let reference) = value { droppedFiles.insert(reference) }
  }

  /// The values of a row's columns; nil if that entity has no such row.
  func values(of shape: RowShape, _ number: Int64) throws -> [SQLValue]? {
    let statement = try statement(selecting: shape)
    statement.reset()
    defer { statement.reset() }
    statement.bind(number, at: 1)
    guard try statement.step() else { return nil }
    return shape.columns.indices.map { statement.value(Int32($0)) }
  }

  /// The values that an object would save, for each of its shape's columns; nil for columns without a property.
  func boundValues(of model: any PersistentModel, _ shape: RowShape) throws -> [SQLValue?] {
    let binding: RowBinding
    if let known = bindings[shape.index] {
      binding = known
    } else {
      binding = try RowBinding(
        shape, rows.container.layout.entities[shape.index], store.blobs, connection)
      bindings[shape.index] = binding
    }
    return try binding.values(of: model)
  }

  // MARK: Prepared statements

  /// Selects the columns of a shape by the row's number.
  private func statement(selecting shape: RowShape) throws -> SQLiteStatement {
    if let known = selections[shape.index] { return known }
    // A SELECT has one column at least.
    let columns =
      shape.columns.isEmpty ? "NULL" : shape.columns.map(\.sqlName).joined(separator: ", ")
    let statement = try connection.prepare(
      "SELECT \(columns) FROM \(shape.root.sqlName) WHERE \"_id\" = ?1\(shape.test)")
    selections[shape.index] = statement
    return statement
  }

  /// Selects target and both orders of an owner's pairs, in the order of their insertion.
  func statement(selecting list: PairList) throws -> SQLiteStatement {
    if let known = pairSelections[list] { return known }
    // In the order of insertion, so that two stores with equal rows return equal pairs.
    let statement = try connection.prepare(
      "SELECT target, owner_order, target_order FROM \(list.table.sqlName) "
        + "WHERE owner = ?1 ORDER BY \"_id\"")
    pairSelections[list] = statement
    return statement
  }

  /// Inserts a row: its number, then the values of its shape's columns.
  ///
  /// Columns of other classes in the table are set to NULL explicitly: a column that a migration added may have a DEFAULT.
  func statement(inserting shape: RowShape) throws -> SQLiteStatement {
    if let known = insertions[shape.index] { return known }
    let own = Set(shape.columns)
    let plan = rows.container.store(of: entity(of: shape))?.plans[shape.index]?.plan
    let others = (plan?.otherColumns ?? []).filter { !own.contains($0) }
    let names = (["_id"] + shape.columns + others).map(\.sqlName).joined(separator: ", ")
    let marks = ((0...shape.columns.count).map { "?\($0 + 1)" } + others.map { _ in "NULL" })
      .joined(separator: ", ")
    let statement = try connection.prepare(
      "INSERT INTO \(shape.root.sqlName) (\(names)) VALUES (\(marks))")
    insertions[shape.index] = statement
    return statement
  }
}

// MARK: - Reading

extension RowTransaction {
  /// How many rows an entity has; those of its subclasses are not counted.
  package func count(of shape: RowShape) throws -> Int {
    let test = shape.discriminator.map { " WHERE \"_entity\" = \($0)" } ?? ""
    return Int(try connection.integer("SELECT count(*) FROM \(shape.root.sqlName)\(test)") ?? 0)
  }

  /// Whether an entity has a row with this number.
  package func contains(_ number: Int64, in shape: RowShape) throws -> Bool {
    try connection.integer(
      "SELECT 1 FROM \(shape.root.sqlName) WHERE \"_id\" = ?1\(shape.test)", [.integer(number)])
      != nil
  }

  /// The content of a row; nil if that entity has no such row.
  package func content(of shape: RowShape, _ number: Int64) throws -> RowContent? {
    guard let values = try values(of: shape, number) else { return nil }
    return RowContent(shape, number, values: values, pairs: try pairs(of: shape, number))
  }

  /// Calls a body with each row of an entity, by number; rows of its subclasses are left out.
  ///
  /// The body may run other statements, also the same one.
  package func forEachRow(of shape: RowShape, _ body: (RowContent) throws -> Void) throws {
    let columns = (["_id"] + shape.columns).map(\.sqlName).joined(separator: ", ")
    // `true` takes the test as a further condition, where there is one.
    try forEach(
      "SELECT \(columns) FROM \(shape.root.sqlName) WHERE true\(shape.test) ORDER BY \"_id\""
    ) { row in
      guard case .integer(let number) = row[0] else { return }
      let pairs = try pairs(of: shape, number)
      try body(RowContent(shape, number, values: Array(row[1...]), pairs: pairs))
    }
  }

  /// Calls a body with the number of each row of an entity; rows of its subclasses are left out.
  package func forEachNumber(of shape: RowShape, _ body: (Int64) throws -> Void) throws {
    try forEach(
      "SELECT \"_id\" FROM \(shape.root.sqlName) WHERE true\(shape.test) ORDER BY \"_id\""
    ) { row in
      if case .integer(let number) = row[0] { try body(number) }
    }
  }

  /// The rows of classes that the container does not know, by the roots of their hierarchies.
  package func unknownRows() throws -> [(root: String, number: Int64)] {
    var known: [String: [Int]] = [:]
    for shape in rows.shapes.values {
      if let number = shape.discriminator { known[shape.root, default: []].append(number) }
    }
    // A newer version of the app may have written rows of other classes.
    return try known.sorted { $0.key < $1.key }.flatMap { root, numbers in
      let list = numbers.map(String.init).joined(separator: ", ")
      let found = try connection.rows(
        "SELECT \"_id\" FROM \(root.sqlName) WHERE \"_entity\" NOT IN (\(list))")
      return found.compactMap { row in
        if case .integer(let number) = row[0] { (root, number) } else { nil }
      }
    }
  }

  // MARK: Single columns

  /// The value of one column of a row; nil if that entity has no such row.
  package func value(of column: String, in shape: RowShape, _ number: Int64) throws -> SQLValue? {
    try connection.rows(
      "SELECT \(column.sqlName) FROM \(shape.root.sqlName) WHERE \"_id\" = ?1\(shape.test)",
      [.integer(number)]
    ).first?.first
  }

  /// Calls a body with one column of each row of an entity, by number; NULL and empty values are left
  /// out.
  package func forEachValue(
    of column: String, in shape: RowShape, _ body: (_ number: Int64, SQLValue) throws -> Void
  ) throws {
    let column = column.sqlName
    // NULL is left out, too: its length is NULL.
    try forEach(
      "SELECT \"_id\", \(column) FROM \(shape.root.sqlName) "
        + "WHERE length(\(column)) > 0\(shape.test) ORDER BY \"_id\""
    ) { row in
      if case .integer(let number) = row[0] { try body(number, row[1]) }
    }
  }

  // MARK: Relationships

  /// The destinations of a relationship that is stored in its destinations' rows: owner by owner, in its order.
  package func destinationsByOwner(
    of relationship: RowShape.Relationship
  ) throws -> [Int64: [Int64]] {
    guard relationship.storage == .inverse, let inverse = relationship.inverse else { return [:] }
    let (column, order) = (inverse.sqlName, HiddenColumn.order(of: inverse).sqlName)
    let test = relationship.list.map {
      "AND ifnull(\(HiddenColumn.list(of: inverse).sqlName), 0) = \($0) "
    }
    var found: [Int64: [Int64]] = [:]
    try forEach(
      "SELECT \(column), \"_id\" FROM \(relationship.destinationRoot.sqlName) "
        + "WHERE \(column) IS NOT NULL \(test ?? "")"
        + "ORDER BY \(column), ifnull(\(order), \"_id\"), \"_id\""
    ) { row in
      guard case .integer(let owner) = row[0], case .integer(let number) = row[1] else { return }
      found[owner, default: []].append(number)
    }
    return found
  }

  /// The rows that a list of pairs has for a row, in their order.
  package func destinations(
    in list: PairList, of number: Int64, isOwner: Bool
  ) throws -> [Int64] {
    // A pair has one place among the owner's, and one among the target's.
    let (own, other) = isOwner ? ("owner", "target") : ("target", "owner")
    return try connection.rows(
      "SELECT \(other) FROM \(list.table.sqlName) WHERE \(own) = ?1 "
        + "ORDER BY ifnull(\(own)_order, \"_id\"), \"_id\"", [.integer(number)]
    ).compactMap { if case .integer(let target) = $0[0] { target } else { nil } }
  }

  /// A row's pairs, for each list that the shape owns.
  private func pairs(of shape: RowShape, _ number: Int64) throws -> [[RowPair]] {
    try shape.ownedPairs.map { try pairs(in: $0.list, of: number) }
  }

  /// An owner's pairs in the order of their insertion.
  private func pairs(in list: PairList, of owner: Int64) throws -> [RowPair] {
    let statement = try statement(selecting: list)
    statement.reset()
    defer { statement.reset() }
    statement.bind(owner, at: 1)
    var pairs: [RowPair] = []
    while try statement.step() {
      pairs.append(
        RowPair(
          owner: owner, target: statement.integer(0),
          ownerOrder: statement.isNull(1) ? nil : statement.integer(1),
          targetOrder: statement.isNull(2) ? nil : statement.integer(2)))
    }
    return pairs
  }

  /// Calls a body with each row of a statement.
  func forEach(
    _ sql: String, _ values: [SQLValue] = [], _ body: ([SQLValue]) throws -> Void
  ) throws {
    // Not a shared statement: the body may run the same SQL.
    let statement = try connection.prepare(sql)
    statement.bind(values)
    let count = statement.columnCount
    while try statement.step() { try body((0..<count).map { statement.value($0) }) }
  }
}

extension RowShape {
  /// The condition that leaves out rows of other entities in the same table.
  var test: String { discriminator.map { " AND \"_entity\" = \($0)" } ?? "" }
}
