import SteadSQLite

/// The SELECT of a to-many relationship's destinations, and the indices of its columns.
///
/// Rows come grouped by owner, in the order of insertion; the caller sorts them by their position.
struct ToManyQuery {
  /// The plan of the destination, whose columns come first.
  let plan: EntityPlan
  let sql: String
  /// The index of the column with the owner's row.
  let ownerColumn: Int32
  /// The index of the column with the position; NULL stands for the row's number.
  let positionColumn: Int32
  /// Whether a row can come more than once, with different owners.
  let mayRepeat: Bool

  /// - Parameters:
  ///   - list: The relationship's number among those that share its inverse.
  ///   - isSingle: Whether the parameter is one owner's row, not a JSON array of rows.
  init(_ storage: ToManyStorage, _ list: Int?, _ plan: EntityPlan, isSingle: Bool) {
    self.plan = plan
    let test = isSingle ? "= ?1" : "IN (SELECT value FROM json_each(?1))"
    ownerColumn = Int32(plan.prefix + plan.tableLayout.columns.count)
    positionColumn = ownerColumn + 1
    // Sibling classes may share the column, or inherit the table of pairs.
    let own = plan.entity.ownRows("t0")
    switch storage {
    case .inverse(let toOne):
      mayRepeat = false
      let property = plan.entity.properties[toOne]
      let column = property.column ?? ""
      let key = "t0.\(column.sqlName)"
      let order = "t0.\(HiddenColumn.order(of: column).sqlName)"
      sql =
        "SELECT \(plan.columnList), \(key), \(order) FROM \(plan.table) AS t0 "
        + "WHERE \(key) \(test)\(Self.isIn(list, property))\(own) ORDER BY \(key), t0.\"_id\""
    case .join(let table, let owner, let target):
      mayRepeat = true
      sql =
        "SELECT \(plan.columnList), j.\(owner), ifnull(j.\(owner)_order, j.\"_id\") "
        + "FROM \(table.sqlName) AS j JOIN \(plan.table) AS t0 ON t0.\"_id\" = j.\(target) "
        + "WHERE j.\(owner) \(test)\(own) ORDER BY j.\(owner), j.\"_id\""
    }
  }

  /// The owner of the current row, and the row's position in the owner's list.
  func ownership(in statement: SQLiteStatement) -> (owner: Int64, position: Int64) {
    let position = statement.integer(positionColumn)
    let isRow = position == 0 && statement.isNull(positionColumn)
    return (statement.integer(ownerColumn), isRow ? statement.integer(0) : position)
  }

  /// The rest of a condition, true for rows in one of several lists over a to-one property.
  private static func isIn(_ list: Int?, _ toOne: PropertyLayout) -> String {
    guard let list, let column = toOne.listColumn else { return "" }
    return " AND ifnull(t0.\(column.sqlName), 0) = \(list)"
  }
}
