/// An index of a model's table.
struct TableIndex: Hashable {
  /// The table's name, unquoted.
  let table: String
  /// The columns of the key, unquoted, in its order.
  let columns: [String]
  /// Whether rows may not share the values. NULL is equal to nothing.
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

  /// The index of a table of pairs by its targets. By owners its UNIQUE constraint has one.
  init(ofPairs table: String) {
    self.table = table
    columns = ["target"]
    isUnique = false
    name = "\(table)_target"
  }

  /// The index of a set of properties; nil if one of them has no column.
  init?(_ properties: [Int], of entity: EntityLayout, isUnique: Bool) {
    let columns = properties.compactMap { entity.properties[$0].column }
    // A to-many relationship has no column.
    guard columns.count == properties.count else { return nil }
    table = entity.table
    self.columns = columns
    self.isUnique = isUnique
    name = Self.name(table, columns, isUnique: isUnique)
  }

  /// The name of the index of a to-one relationship's column. Names are stored: they must not change.
  static func name(_ table: String, reference column: String) -> String { "\(table)_\(column)" }

  /// The name of the index of a set of properties.
  static func name(_ table: String, _ columns: [String], isUnique: Bool) -> String {
    "\(table)_\(columns.joined(separator: "_"))\(isUnique ? "_unique" : "_index")"
  }
}
