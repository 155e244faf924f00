import SteadSQLite

/// One SQL value.
struct Scalar {
  var sql: SQLFragment
  var encoding: ColumnEncoding
  var nullability = Nullability.never
  var strict: StrictVariables = 0
  /// Whether the SQL is a plain column, so that an index can be used.
  var isColumn = false
  /// The related object's column, if the value comes from one.
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
