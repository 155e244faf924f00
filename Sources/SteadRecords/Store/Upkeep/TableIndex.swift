import SteadSQLite

/// An index of a model's table.
struct TableIndex: Hashable {
  /// The table's name, unquoted.
  let table: String
  let columns: [String]
  let isUnique: Bool
  /// The index's name, unquoted.
  let name: String

  /// The index of a column that holds a to-one relationship.
  init(reference column: String, of table: String) {
    self.table = table
    columns = [column]
    isUnique = false
    name = Self.name(table, reference: column)
  }

  /// The index of a set of properties; nil if one of them has no column.
  init?(_ properties: [Int], of entity: EntityLayout, isUnique: Bool) {
    let columns = properties.compactMap { entity.properties[$0].column }
    guard columns.count == properties.count else { return nil }
    table = entity.table
    self.columns = columns
    self.isUnique = isUnique
    name = Self.name(table, columns, isUnique: isUnique)
  }

  static func name(_ table: String, reference column: String) -> String { "\(table)_\(column)" }

  static func name(_ table: String, _ columns: [String], isUnique: Bool) -> String {
    "\(table)_\(columns.joined(separator: "_"))\(isUnique ? "_unique" : "_index")"
  }

  /// The statement that makes the index unless it exists.
  var creation: String {
    "CREATE \(isUnique ? "UNIQUE " : "")INDEX IF NOT EXISTS \(name.sqlName) ON \(table.sqlName) "
      + "(\(columns.map(\.sqlName).joined(separator: ", ")))"
  }

  /// The rows that share their values with others; those with a NULL share none.
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

  func exists(on connection: StoreConnection) throws -> Bool {
    let found = try connection.rows(
      "SELECT i.\"unique\", c.name FROM pragma_index_list(?1) AS i, pragma_index_info(i.name) AS c "
        + "WHERE i.name = ?2 ORDER BY c.seqno", [.text(table), .text(name)])
    return found.count == columns.count
      && zip(found, columns).allSatisfy {
        $0 == [.integer(isUnique ? 1 : 0), .text($1)]
      }
  }
}

extension TableLayout {
  /// The indexes of the columns that hold to-one relationships.
  var references: [TableIndex] {
    columns.filter { $0.declaration.contains("REFERENCES") }.map {
      TableIndex(reference: $0.name, of: name)
    }
  }
}
