import SteadSQLite

/// Writes the pairs of a relationship that were set aside to the place that it has now.
struct LinkWriting {
  private let connection: StoreConnection
  private let layout: StoreLayout
  /// The table that has the pairs.
  private let aside: String

  init(_ connection: StoreConnection, _ layout: StoreLayout, _ aside: String) {
    self.connection = connection
    self.layout = layout
    self.aside = aside
  }

  func write(_ link: LinkChange) throws {
    try dropDangling(link)
    switch link.after {
    case .column(let table, let column):
      try connection.execute("CREATE INDEX temp.\(aside)_side ON \(aside) (owner)")
      try connection.execute(
        "UPDATE \(table.sqlName) SET \(column.sqlName) = "
          + "(SELECT target FROM \(aside) WHERE owner = \"_id\") "
          + "WHERE \"_id\" IN (SELECT owner FROM \(aside))")
    case .inverse(let table, let column, let list):
      try connection.execute("CREATE INDEX temp.\(aside)_side ON \(aside) (target)")
      try rank()
      let lists = HiddenColumn.list(of: column)
      let hasLists = try hasColumn(lists, table)
      let hasOrder = try hasColumn(HiddenColumn.order(of: column), table)
      var terms = ["\(column.sqlName) = (SELECT owner FROM \(aside) WHERE target = \"_id\")"]
      if hasOrder {
        terms.append(
          "\(HiddenColumn.order(of: column).sqlName) = (SELECT nullif(rank, \"_id\") FROM \(aside) WHERE target = \"_id\")"
        )
      }
      if hasLists { terms.append("\(lists.sqlName) = \(list ?? 0)") }
      try connection.execute(
        "UPDATE \(table.sqlName) SET \(terms.joined(separator: ", ")) "
          + "WHERE \"_id\" IN (SELECT target FROM \(aside))")
    case .pairs(let table, let isOwner):
      try rank()
      let (owner, target) = isOwner ? ("owner", "target") : ("target", "owner")
      // Pairs are in the order of their numbers, seen from the owners; from the targets they have places.
      try connection.execute(
        "INSERT OR IGNORE INTO \(table.sqlName) (\(owner), \(target), \(target)_order) "
          + "SELECT owner, target, CASE WHEN target_place IS NULL THEN NULL ELSE target_rank END "
          + "FROM \(aside) ORDER BY owner, rank")
    }
  }

  /// Pairs of rows that are gone.
  private func dropDangling(_ link: LinkChange) throws {
    let owners = link.entity.root.name.sqlName
    guard let target = layout.entity(named: link.relationship.destination)?.table.sqlName else {
      return
    }
    try connection.execute(
      "DELETE FROM \(aside) WHERE owner NOT IN (SELECT \"_id\" FROM \(owners)) "
        + "OR target NOT IN (SELECT \"_id\" FROM \(target))")
  }

  /// Numbers the pairs of each owner, and of each target, in order from 1: no number is greater than that of the newest
  /// row, so later additions come after it.
  private func rank() throws {
    try connection.execute(
      """
      CREATE TEMP TABLE \(aside)_ranked AS SELECT owner, target, owner_place, target_place,
        row_number() OVER (PARTITION BY owner ORDER BY owner_place, target) AS rank,
        row_number() OVER (PARTITION BY target ORDER BY target_place, owner) AS target_rank FROM \(aside);
      DROP TABLE temp.\(aside);
      ALTER TABLE temp.\(aside)_ranked RENAME TO \(aside);
      CREATE INDEX temp.\(aside)_target ON \(aside) (target);
      """)
  }

  private func hasColumn(_ column: String, _ table: String) throws -> Bool {
    try connection.integer(
      "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE name = ?2", [.text(table), .text(column)])
      != 0
  }
}
