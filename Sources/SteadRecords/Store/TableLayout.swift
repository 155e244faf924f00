import SteadSQLite

/// The table of one class hierarchy: its columns, in the order of the statements.
struct TableLayout {
  /// A column by its name, unquoted, with what follows the name in CREATE TABLE.
  struct Column {
    let name: String
    let declaration: String
  }

  /// The table's name, unquoted.
  let name: String
  /// Whether classes share the table, whose rows then have their class in `_entity`.
  let isHierarchy: Bool
  /// The columns that hold values, after `_id` and, in a hierarchy, `_entity`. The column of a to-one property is
  /// followed by the one that records which of several lists has the row.
  let columns: [Column]
  /// Columns that SQLite computes from JSON, so that plain SQL reaches the fields of structs.
  let generated: [Column]
  /// Columns with a row's position in a to-many relationship that is stored in a foreign key.
  let orders: [Column]
  /// The index of each column in `columns`.
  let position: [String: Int]

  /// Lays out the columns of all classes of a hierarchy. A property that classes share, inherited or of the same name
  /// in siblings, has one column.
  init(root: EntityLayout, layout: StoreLayout) {
    name = root.table
    isHierarchy = root.discriminator != nil
    var columns: [Column] = []
    var generated: [Column] = []
    var orders: [Column] = []
    var position: [String: Int] = [:]
    let family = layout.entities.filter { $0.rootIndex == root.index }
    // A superclass may lack an inverse that its subclass has.
    let ordered = Set(
      family.flatMap(\.properties).filter { $0.needsOrder(in: layout.entities) }.map(\.name))
    for entity in family {
      for property in entity.properties {
        // Once for all classes that share the column.
        guard let column = property.column, position[column] == nil else { continue }
        position[column] = columns.count
        columns.append(
          Column(name: column, declaration: Self.declaration(of: property, layout: layout)))
        generated += Self.fields(of: property)
        // Apart from `columns`: no property reads a position.
        if ordered.contains(column) {
          orders.append(Column(name: HiddenColumn.order(of: column), declaration: "INTEGER"))
        }
        if let name = property.listColumn {
          position[name] = columns.count
          columns.append(Column(name: name, declaration: "INTEGER"))
        }
      }
    }
    self.columns = columns
    // A property may have the name that a field's column would get, in any case. Its own column wins, and of two fields
    // the first; predicates then read none of them.
    var taken = Set((columns + orders).map { $0.name.lowercased() })
    self.generated = generated.filter {
      !HiddenColumn.isReserved($0.name) && taken.insert($0.name.lowercased()).inserted
    }
    self.orders = orders
    self.position = position
  }

  /// What follows a column's name: its type, and of a to-one relationship the table that it leads
  /// to. SQLite does not enforce the reference.
  private static func declaration(of property: PropertyLayout, layout: StoreLayout) -> String {
    switch property.kind {
    case .attribute(let encoding): type(of: encoding)
    case .toOne(let destination):
      "INTEGER REFERENCES \(layout.entities[destination].table.sqlName)"
    case .toMany: ""
    }
  }

  /// The declared type of a column, by the rules of type affinity (sqlite.org/datatype3.html).
  static func type(of encoding: ColumnEncoding) -> String {
    switch encoding {
    case .boolean, .integer: "INTEGER"
    // BLOB in the name stops the conversion that a REAL column makes, which loses the sign of -0.0.
    case .real: "REAL BLOB"
    case .date: "REAL"
    case .decimal, .text, .url, .json, .composite: "TEXT"
    // BLOB means no conversion: numbers stay numbers and text stays text.
    case .unsigned64, .uuid, .data, .external, .opaque: "BLOB"
    }
  }

  /// The generated columns of a struct's fields, for those that have a plain SQL type.
  private static func fields(of property: PropertyLayout) -> [Column] {
    guard case .attribute(.composite) = property.kind, let column = property.column else {
      return []
    }
    return CompositeFields.of(PropertyShape(property.valueType).wrapped).compactMap { field in
      guard let type = fieldType(PropertyShape(field.type)) else { return nil }
      // The key is in quotation marks, so that no character in it has a meaning in the path.
      let path = "$.\"\(field.name)\"".replacing("'", with: "''")
      return Column(
        name: "\(column)_\(field.name)",
        declaration: "\(type) GENERATED ALWAYS AS (json_extract(\(column.sqlName), '\(path)'))")
    }
  }

  /// The declared type of a field in JSON; nil if plain SQL could not read the field as a value of
  /// its type.
  private static func fieldType(_ shape: PropertyShape) -> String? {
    guard shape.model == nil else { return nil }
    switch shape.encoding {
    case .boolean, .integer: return "INTEGER"
    case .real, .date: return "REAL"
    // JSON has a UUID as text.
    case .text, .url, .uuid: return "TEXT"
    default: return nil
    }
  }

  /// The statement that makes the table.
  ///
  /// ```sql
  /// CREATE TABLE "Stop" ("_id" INTEGER PRIMARY KEY, "name" TEXT,
  ///   "trip" INTEGER REFERENCES "Trip", "_trip_order" INTEGER)
  /// ```
  var creation: String {
    var parts = ["\"_id\" INTEGER PRIMARY KEY"]
    if isHierarchy { parts.append("\"_entity\" INTEGER NOT NULL") }
    parts += (columns + orders + generated).map { "\($0.name.sqlName) \($0.declaration)" }
    return "CREATE TABLE \(name.sqlName) (\(parts.joined(separator: ", ")))"
  }
}

// MARK: - Columns of list numbers

/// The column or parameter of a list number: of several to-many relationships that share a to-one property, the one that
/// has the object.
///
/// No property of the class has that column, so slots neither read nor bind it.
struct ListColumn {
  /// The to-one property that several lists share.
  let property: PropertyLayout
  /// The index of the result column or the parameter.
  let index: Int32
}

extension [ListColumn] {
  /// Sets an object's list numbers to those of the current row.
  ///
  /// - Parameter changes: The properties that keep what the object has.
  func read(
    into model: any PersistentModel, from statement: SQLiteStatement,
    excluding changes: PropertySet = PropertySet()
  ) {
    for list in self where !changes.contains(list.property.index) {
      let number = Int(statement.integer(list.index))
      model.setList(
        number == list.property.firstList ? nil : number, at: list.property.index)
    }
  }

  /// Binds an object's list numbers.
  func bind(of model: any PersistentModel, to statement: SQLiteStatement) {
    for list in self { statement.bind(value(of: model, list.property), at: list.index) }
  }

  /// The number to bind: NULL without a reference, and for the first list.
  private func value(of model: any PersistentModel, _ property: PropertyLayout) -> SQLValue {
    // Without a reference the number means nothing.
    if case .toOne(.none) = model.content(at: property.index) { return .null }
    let number = model.list(at: property.index) ?? property.firstList
    // NULL, as in rows from before there was a second list.
    return number == 0 ? .null : .integer(Int64(number))
  }
}

// MARK: - Indexes

extension TableIndex {
  /// The statement that makes the index unless it exists.
  ///
  /// ```sql
  /// CREATE INDEX IF NOT EXISTS "Stop_trip" ON "Stop" ("trip")
  /// ```
  var creation: String {
    "CREATE \(isUnique ? "UNIQUE " : "")INDEX IF NOT EXISTS \(name.sqlName) ON \(table.sqlName) "
      + "(\(columns.map(\.sqlName).joined(separator: ", ")))"
  }

  /// The rows that share their values with others; those with a NULL share none.
  ///
  /// Costs a scan of the table, which is sorted for it.
  func sharingRows(on connection: StoreConnection) throws -> FoundRows {
    let list = columns.map(\.sqlName).joined(separator: ", ")
    let statement = try connection.prepare(
      "SELECT \"_id\" FROM \(table.sqlName) WHERE (\(list)) IN "
        + "(SELECT \(list) FROM \(table.sqlName) GROUP BY \(list) HAVING count(*) > 1) ORDER BY \"_id\""
    )
    var found = FoundRows()
    while try statement.step() { found.add(statement.integer(0)) }
    return found
  }

  /// Whether the file has an index of that name, with these columns and this uniqueness.
  func exists(on connection: StoreConnection) throws -> Bool {
    let found = try connection.rows(
      "SELECT i.\"unique\", c.name FROM pragma_index_list(?1) AS i, pragma_index_info(i.name) AS c "
        + "WHERE i.name = ?2 ORDER BY c.seqno", [.text(table), .text(name)])
    // In their order, too: it decides which queries the index serves.
    return found.count == columns.count
      && zip(found, columns).allSatisfy {
        $0 == [.integer(isUnique ? 1 : 0), .text($1)]
      }
  }
}

extension TableLayout {
  /// The indexes of the columns that hold to-one relationships.
  var references: [TableIndex] {
    // Only columns of to-one relationships are declared so.
    columns.filter { $0.declaration.contains("REFERENCES") }.map {
      TableIndex(reference: $0.name, of: name)
    }
  }
}

// MARK: - Full-text search

/// The full-text index of an entity's `.spotlight` properties: an FTS5 table with external content, which triggers maintain.
///
/// Triggers rather than the engine, so that plain SQL of other programs keeps the index up to date, too. They call nothing of
/// this library's.
struct SearchTable {
  /// The name of the FTS5 table, unquoted.
  let name: String
  /// The model's table, unquoted.
  private let table: String
  /// The columns that are searched, unquoted.
  private let columns: [String]

  /// Names the table; ``prepare(on:)`` makes it.
  init(entity: EntityLayout) {
    name = HiddenTable.search(of: entity.name)[0]
    table = entity.table
    columns = entity.searchable.compactMap { entity.properties[$0].column }
  }

  /// Makes the table with its triggers and fills it, unless it exists.
  func prepare(on connection: StoreConnection) throws {
    let exists = try connection.integer(
      "SELECT count(*) FROM sqlite_schema WHERE name = ?1", [.text(name)])
    // One that exists is current: triggers keep it up to date, and a migration drops one that has
    // other columns.
    guard exists == 0 else { return }
    try connection.execute(
      """
      CREATE VIRTUAL TABLE \(name.sqlName) USING fts5(\(list), content=\(literal), content_rowid='_id',
        tokenize='unicode61 remove_diacritics 2');
      \(triggers("CREATE TRIGGER"))
      INSERT INTO \(name.sqlName) (\(name.sqlName)) VALUES ('rebuild');
      """)
  }

  /// The names of the file's triggers, and of the temporary ones.
  var triggerNames: [String] { Self.triggerNames(of: name) }

  /// The names of the triggers that maintain a full-text table.
  static func triggerNames(of table: String) -> [String] {
    ["insert", "delete", "update"].map { "\(table)_\($0)" }
  }

  /// Makes temporary triggers, for a connection that has the file's triggers off.
  func makeTemporaryTriggers(on connection: StoreConnection) throws {
    try connection.execute(triggers("CREATE TEMP TRIGGER IF NOT EXISTS"))
  }

  /// Drops them, for a connection on which the file's triggers are on again.
  func dropTemporaryTriggers(on connection: StoreConnection) throws {
    for name in triggerNames {
      try connection.execute("DROP TRIGGER IF EXISTS temp.\(name.sqlName)")
    }
  }

  /// Forgets all words.
  func empty(on connection: StoreConnection) throws {
    try connection.execute(
      "INSERT INTO \(name.sqlName) (\(name.sqlName)) VALUES ('delete-all')")
  }

  /// The columns, quoted.
  private var list: String { columns.map(\.sqlName).joined(separator: ", ") }
  /// The model's table as an SQL literal, which FTS5 takes.
  private var literal: String { "'\(table.replacing("'", with: "''"))'" }

  /// The three triggers that keep the index up to date.
  ///
  /// An index with external content has no copy of the text: to forget a row, it must be given the values that the
  /// row had. So an update is a deletion with the old values and an insertion (sqlite.org/fts5.html, "External
  /// Content Tables").
  private func triggers(_ creation: String) -> String {
    let new = columns.map { "new.\($0.sqlName)" }.joined(separator: ", ")
    let old = columns.map { "old.\($0.sqlName)" }.joined(separator: ", ")
    let (search, source) = (name.sqlName, table.sqlName)
    return """
      \(creation) \((name + "_insert").sqlName) AFTER INSERT ON \(source) BEGIN
        INSERT INTO \(search) (rowid, \(list)) VALUES (new."_id", \(new));
      END;
      \(creation) \((name + "_delete").sqlName) AFTER DELETE ON \(source) BEGIN
        INSERT INTO \(search) (\(search), rowid, \(list)) VALUES ('delete', old."_id", \(old));
      END;
      \(creation) \((name + "_update").sqlName) AFTER UPDATE OF \(list) ON \(source) BEGIN
        INSERT INTO \(search) (\(search), rowid, \(list)) VALUES ('delete', old."_id", \(old));
        INSERT INTO \(search) (rowid, \(list)) VALUES (new."_id", \(new));
      END;
      """
  }
}
