import SteadSQLite

/// The rows of a to-many relationship, or some of them.
struct RowsTerm {
  let entity: EntityLayout
  let alias: String
  /// Tables and aliases, the text after FROM.
  let source: SQLFragment
  var condition: SQLFragment
  /// Terms after ORDER BY that give the relationship's order.
  let order: SQLFragment
  /// What is true when the relationship's owner is there; nil when it always is.
  var presence: SQLFragment?
}
