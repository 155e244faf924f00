import SteadSQLite

/// The rows of a to-many relationship, or some of them.
struct RowsTerm {
  let entity: EntityLayout
  let alias: String
  /// Tables and aliases, the SQL after FROM.
  let source: SQLFragment
  var condition: SQLFragment
  /// The terms after ORDER BY for the relationship's order.
  let order: SQLFragment
  /// The SQL that is true if the relationship's owner exists; nil if it always does.
  var presence: SQLFragment?
}
