/// Selects the pairs of a relationship as `owner`, `target`, `owner_place` and `target_place`: the place of the
/// target among the owner's, and of the owner among the target's.
struct LinkQuery {
  let sql: String

  /// The rows of some classes of a hierarchy's table.
  struct Rows {
    let table: String
    /// The classes' numbers.
    let classes: [Int]
  }

  /// - Parameters:
  ///   - columns: The columns of the table, since the ones of order are not in all.
  ///   - owners: The owners' classes, and `targets` those of the targets, if their tables have others, too: these may
  ///     share the column or inherit the table of pairs.
  init(_ storage: LinkStorage, columns: Set<String>, owners: Rows?, targets: Rows?) {
    let all = Self.all(storage, columns)
    let tests = [("owner", owners), ("target", targets)].compactMap { side, rows in
      rows.map {
        "\(side) IN (SELECT \"_id\" FROM \($0.table.sqlName) WHERE \"_entity\" IN "
          + "(\($0.classes.map(String.init).joined(separator: ", "))))"
      }
    }
    sql = tests.isEmpty ? all : "SELECT * FROM (\(all)) WHERE \(tests.joined(separator: " AND "))"
  }

  private static func all(_ storage: LinkStorage, _ columns: Set<String>) -> String {
    func order(_ column: String) -> String {
      let name = HiddenColumn.order(of: column)
      return columns.contains(name) ? "ifnull(\(name.sqlName), \"_id\")" : "\"_id\""
    }
    switch storage {
    case .column(let table, let column):
      let name = column.sqlName
      return
        "SELECT \"_id\" AS owner, \(name) AS target, NULL AS owner_place, \(order(column)) AS target_place "
        + "FROM \(table.sqlName) WHERE \(name) IS NOT NULL"
    case .inverse(let table, let column, let list):
      let name = column.sqlName
      let listColumn = HiddenColumn.list(of: column)
      let only =
        columns.contains(listColumn) ? " AND ifnull(\(listColumn.sqlName), 0) = \(list ?? 0)" : ""
      return
        "SELECT \(name) AS owner, \"_id\" AS target, \(order(column)) AS owner_place, NULL AS target_place "
        + "FROM \(table.sqlName) WHERE \(name) IS NOT NULL\(only)"
    case .pairs(let table, let isOwner):
      let (owner, target) = isOwner ? ("owner", "target") : ("target", "owner")
      return
        "SELECT \(owner) AS owner, \(target) AS target, ifnull(\(owner)_order, \"_id\") AS owner_place, "
        + "ifnull(\(target)_order, \"_id\") AS target_place FROM \(table.sqlName)"
    }
  }
}
