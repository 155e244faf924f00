import SteadSQLite

/// The full-text index of an entity's `.spotlight` properties: an FTS5 table that triggers maintain.
struct SearchTable {
  let name: String
  private let table: String
  private let columns: [String]

  init(entity: EntityLayout) {
    name = "\(entity.name)_search"
    table = entity.table
    columns = entity.searchable.compactMap { entity.properties[$0].column }
  }

  func prepare(on connection: StoreConnection) throws {
    let exists = try connection.integer(
      "SELECT count(*) FROM sqlite_schema WHERE name = ?1", [.text(name)])
    guard exists == 0 else { return }
    try connection.execute(
      """
      CREATE VIRTUAL TABLE \(name.sqlName) USING fts5(\(list), content=\(literal), content_rowid='_id',
        tokenize='unicode61 remove_diacritics 2');
      \(triggers("CREATE TRIGGER"))
      INSERT INTO \(name.sqlName) (\(name.sqlName)) VALUES ('rebuild');
      """)
  }

  var triggerNames: [String] { Self.triggerNames(of: name) }

  static func triggerNames(of table: String) -> [String] {
    ["insert", "delete", "update"].map { "\(table)_\($0)" }
  }

  /// Keeps the table up to date on a connection that has the file's triggers off.
  func makeTemporaryTriggers(on connection: StoreConnection) throws {
    try connection.execute(triggers("CREATE TEMP TRIGGER IF NOT EXISTS"))
  }

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

  private var list: String { columns.map(\.sqlName).joined(separator: ", ") }
  private var literal: String { "'\(table.replacing("'", with: "''"))'" }

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
