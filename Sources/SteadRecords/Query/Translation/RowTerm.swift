import SteadSQLite

/// An object's row.
struct RowTerm {
  let entity: EntityLayout
  /// The row's number.
  var id: SQLFragment
  /// The table's alias where the columns can be read directly.
  var alias: String?
  /// The condition under which the row exists after a cast to a subclass.
  var condition: SQLFragment?
  var nullability = Nullability.never
  var strict: StrictVariables = 0
  var isColumn = false
  /// Whether the number comes from a foreign key, so that the row may be gone.
  var isReference = false
  /// The SQL that is true unless Swift traps on the way: what was unwrapped, or cast by `as!`, is an object. Nil if
  /// nothing was. It is never NULL.
  var premise: SQLFragment?
}
