/// Selects the pairs of a relationship as `owner`, `target`, `owner_place` and `target_place`: the place of the
/// target among the owner's, and of the owner among the target's.
struct LinkQuery {
  let sql: String

  /// - Parameters:
  ///   - columns: The columns of the table, since the ones of order are not in all.
  ///   - classes: The numbers of the owners' classes, if other classes have the column, too.
  init(_ storage: LinkStorage, columns: Set<String>, classes: [Int]) {
    func order(_ column: String) -> String {
      let name = HiddenColumn.order(of: column)
      return columns.contains(name) ? "ifnull(\(name.sqlName), \"_id\")" : "\"_id\""
    }
    switch storage {
    case .column(let table, let column):
      let name = column.sqlName
      let only = classes.isEmpty || !columns.contains("_entity") ? "" : Self.test(classes)
      sql =
        "SELECT \"_id\" AS owner, \(name) AS target, NULL AS owner_place, \(order(column)) AS target_place "
        + "FROM \(table.sqlName) WHERE \(name) IS NOT NULL\(only)"
    case .inverse(let table, let column, let list):
      let name = column.sqlName
      let listColumn = HiddenColumn.list(of: column)
      let only =
        columns.contains(listColumn) ? " AND ifnull(\(listColumn.sqlName), 0) = \(list ?? 0)" : ""
      sql =
        "SELECT \(name) AS owner, \"_id\" AS target, \(order(column)) AS owner_place, NULL AS target_place "
        + "FROM \(table.sqlName) WHERE \(name) IS NOT NULL\(only)"
    case .pairs(let table, let isOwner):
      let (owner, target) = isOwner ? ("owner", "target") : ("target", "owner")
      sql =
        "SELECT \(owner) AS owner, \(target) AS target, ifnull(\(owner)_order, \"_id\") AS owner_place, "
        + "ifnull(\(target)_order, \"_id\") AS target_place FROM \(table.sqlName)"
    }
  }

  private static func test(_ classes: [Int]) -> String {
    " AND \"_entity\" IN (\(classes.map(String.init).joined(separator: ", ")))"
  }
}
