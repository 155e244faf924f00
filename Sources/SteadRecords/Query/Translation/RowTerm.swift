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
  /// Whether Swift would have trapped if there is no row: the object was unwrapped, or cast by `as!`.
  var isUnwrapped = false
}
