import SteadSQLite

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

  /// The columns of a fetch that only wants identifiers.
  var identifierColumns: String {
    entity.discriminator == nil ? "t0.\"_id\"" : "t0.\"_id\", t0.\"_entity\""
  }
}

extension EntityPlan {
  /// The row's number and some columns.
  func columnList(of columns: [String]) -> String {
    (["_id"] + columns).map { "t0.\($0.sqlName)" }.joined(separator: ", ")
  }
}

extension SearchTable {
  /// The rows that match, best first: their columns, the rank and a snippet. The parameters are the
  /// query and the limit.
  func selection(from plan: EntityPlan, words: Int) -> String {
    let search = name.sqlName
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
