import SteadSQLite

/// The full-text index of an entity's `.spotlight` properties: an FTS5 table that triggers keep.
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
    let list = columns.map(\.sqlName).joined(separator: ", ")
    let new = columns.map { "new.\($0.sqlName)" }.joined(separator: ", ")
    let old = columns.map { "old.\($0.sqlName)" }.joined(separator: ", ")
    let (search, source) = (name.sqlName, table.sqlName)
    let text = "'\(table.replacing("'", with: "''"))'"
    try connection.execute(
      """
      CREATE VIRTUAL TABLE \(search) USING fts5(\(list), content=\(text), content_rowid='_id',
        tokenize='unicode61 remove_diacritics 2');
      CREATE TRIGGER \((name + "_insert").sqlName) AFTER INSERT ON \(source) BEGIN
        INSERT INTO \(search) (rowid, \(list)) VALUES (new."_id", \(new));
      END;
      CREATE TRIGGER \((name + "_delete").sqlName) AFTER DELETE ON \(source) BEGIN
        INSERT INTO \(search) (\(search), rowid, \(list)) VALUES ('delete', old."_id", \(old));
      END;
      CREATE TRIGGER \((name + "_update").sqlName) AFTER UPDATE OF \(list) ON \(source) BEGIN
        INSERT INTO \(search) (\(search), rowid, \(list)) VALUES ('delete', old."_id", \(old));
        INSERT INTO \(search) (rowid, \(list)) VALUES (new."_id", \(new));
      END;
      INSERT INTO \(search) (\(search)) VALUES ('rebuild');
      """)
  }
}
