import SteadSQLite

/// The SELECT of a to-many relationship's destinations, and where its columns are.
struct ToManyQuery {
  /// How the destinations' rows are read.
  let plan: EntityPlan
  let sql: String
  /// The owner's row.
  let ownerColumn: Int32
  /// The place in the relationship's order; NULL for that of the row's number.
  let placeColumn: Int32
  /// Whether a row can come more than once, with different owners.
  let mayRepeat: Bool

  /// - Parameters:
  ///   - list: The relationship's number among those that share its inverse.
  ///   - isSingle: Whether the parameter is one owner's row, not a JSON array of rows.
  init(_ storage: ToManyStorage, _ list: Int?, _ plan: EntityPlan, isSingle: Bool) {
    self.plan = plan
    let test = isSingle ? "= ?1" : "IN (SELECT value FROM json_each(?1))"
    ownerColumn = Int32(plan.prefix + plan.tableLayout.columns.count)
    placeColumn = ownerColumn + 1
    switch storage {
    case .inverse(let toOne):
      mayRepeat = false
      let property = plan.entity.properties[toOne]
      let column = property.column ?? ""
      let key = "t0.\(quoted(column))"
      let order = "t0.\(quoted(HiddenColumn.order(of: column)))"
      sql =
        "SELECT \(plan.columnList), \(key), \(order) FROM \(plan.table) AS t0 "
        + "WHERE \(key) \(test)\(Self.isIn(list, property)) ORDER BY \(key), t0.\"_id\""
    case .join(let table, let owner, let target):
      mayRepeat = true
      sql =
        "SELECT \(plan.columnList), j.\(owner), ifnull(j.\(owner)_order, j.\"_id\") "
        + "FROM \(quoted(table)) AS j JOIN \(plan.table) AS t0 ON t0.\"_id\" = j.\(target) "
        + "WHERE j.\(owner) \(test) ORDER BY j.\(owner), j.\"_id\""
    }
  }

  /// The owner of the current row, and the row's place among its owner's.
  func ownership(in statement: SQLiteStatement) -> (owner: Int64, place: Int64) {
    let place = statement.integer(placeColumn)
    let isRow = place == 0 && statement.isNull(placeColumn)
    return (statement.integer(ownerColumn), isRow ? statement.integer(0) : place)
  }

  /// The rest of a condition, true for rows in one of several lists over a to-one property.
  private static func isIn(_ list: Int?, _ toOne: PropertyLayout) -> String {
    guard let list, let column = toOne.listColumn else { return "" }
    return " AND ifnull(t0.\(quoted(column)), 0) = \(list)"
  }
}

extension EntityPlan {
  /// The rows whose numbers are in a JSON array.
  var selectionOfRows: String {
    "SELECT \(columnList) FROM \(table) AS t0 "
      + "WHERE t0.\"_id\" IN (SELECT value FROM json_each(?1))"
  }

  /// The condition that leaves the rows of an entity and its subclasses in a hierarchy's table.
  var familyCondition: SQLFragment? {
    guard let discriminator = entity.discriminator,
      entity.rootIndex != entity.index || entity.familyDiscriminators.isEmpty
    else { return nil }
    let family =
      entity.familyDiscriminators.isEmpty ? [discriminator] : entity.familyDiscriminators
    return SQLFragment(
      sql: "t0.\"_entity\" IN (\(family.map(String.init).joined(separator: ", ")))")
  }

  /// A SELECT from the entity's table.
  func selection(
    of columns: String, where condition: SQLFragment?, order: SQLFragment?, limit: Int?,
    offset: Int?
  ) -> SQLFragment {
    var sql = "SELECT \(columns) FROM \(table) AS t0"
    var bindings: [SQLValue] = []
    let terms = [familyCondition, condition].compactMap(\.self)
    if !terms.isEmpty {
      sql += " WHERE \(terms.map(\.sql).joined(separator: " AND "))"
      bindings += terms.flatMap(\.bindings)
    }
    if let order {
      sql += " ORDER BY \(order.sql)"
      bindings += order.bindings
    }
    if limit != nil || offset != nil {
      sql += " LIMIT ? OFFSET ?"
      bindings += [.integer(Int64(limit ?? -1)), .integer(Int64(offset ?? 0))]
    }
    return SQLFragment(sql: sql, bindings: bindings)
  }

  /// The columns of a fetch that wants identifiers only.
  var identifierColumns: String {
    entity.discriminator == nil ? "t0.\"_id\"" : "t0.\"_id\", t0.\"_entity\""
  }
}

extension EntityPlan {
  /// The row's number and some columns.
  func columnList(of columns: [String]) -> String {
    (["_id"] + columns).map { "t0.\(quoted($0))" }.joined(separator: ", ")
  }
}

extension SearchTable {
  /// The rows that match, best first: their columns, the rank and a snippet. The parameters are the
  /// query and the limit.
  func selection(from plan: EntityPlan, words: Int) -> String {
    let search = quoted(name)
    let family =
      plan.entity.familyDiscriminators.isEmpty
      ? ""
      : " AND t0.\"_entity\" IN "
        + "(\(plan.entity.familyDiscriminators.map(String.init).joined(separator: ", ")))"
    return "SELECT \(plan.columnList), s.rank, snippet(\(search), -1, '[', ']', '…', \(words)) "
      + "FROM \(search) AS s JOIN \(plan.table) AS t0 ON t0.\"_id\" = s.rowid "
      + "WHERE \(search) MATCH ?1\(family) ORDER BY s.rank LIMIT ?2"
  }
}
