import SteadSQLite

/// One SQL value.
struct Scalar {
  var sql: SQLFragment
  var encoding: ColumnEncoding
  var nullability = Nullability.never
  var strict: StrictVariables = 0
  /// Whether the text is a plain column, which an index may serve.
  var isColumn = false
  /// Where the value is that of a related object's column.
  var lookup: Lookup?

  /// A column of the row that a foreign key of the query's own row leads to.
  struct Lookup {
    let key: SQLFragment
    let table: SQLName
    let column: SQLName
  }

  /// The SQL as an operand: a condition needs parentheses, all other forms hold together.
  var operand: SQLFragment { encoding == .boolean && !isColumn ? "(\(sql))" : sql }
}
