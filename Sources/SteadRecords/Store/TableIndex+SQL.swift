import SteadSQLite

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
