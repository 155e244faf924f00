/// The name of a table, a column or an alias.
package struct SQLName: Hashable, Sendable {
  /// The name as it stands in SQL.
  package let sql: String

  /// An identifier, quoted.
  package init(_ name: String) { sql = name.sqlName }

  /// A column of a table's alias.
  package init(_ alias: String, _ column: String) { sql = "\(alias).\(column.sqlName)" }

  /// A name that the translation made, such as `t0`.
  package init(alias: String) { sql = alias }
}

extension String {
  /// The string in the quotes of an SQL identifier.
  package var sqlName: String {
    // Thousands of names are quoted when a store is opened, and hardly any has a quote in it.
    let inner = utf8.contains(UInt8(ascii: "\"")) ? replacing("\"", with: "\"\"") : self
    return "\"" + inner + "\""
  }
}
