/// The name of a table, a column or an alias.
package struct SQLName: Hashable, Sendable {
  /// The name as it stands in SQL.
  package let sql: String

  /// An identifier, quoted.
  package init(_ name: String) { sql = quoted(name) }

  /// A column of a table's alias.
  package init(_ alias: String, _ column: String) { sql = "\(alias).\(quoted(column))" }

  /// A name that the translation made, such as `t0`.
  package init(alias: String) { sql = alias }
}

/// An SQL identifier in quotes.
package func quoted(_ name: String) -> String {
  // Thousands of names are quoted when a store is opened, and hardly any has a quote in it.
  let inner =
    name.utf8.contains(UInt8(ascii: "\"")) ? name.replacing("\"", with: "\"\"") : name
  return "\"" + inner + "\""
}
