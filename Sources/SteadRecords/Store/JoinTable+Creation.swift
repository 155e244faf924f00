extension JoinTable {
  /// Makes the table and its index, unless they are there.
  func create(on connection: StoreConnection) throws {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(name.sqlName) (\"_id\" INTEGER PRIMARY KEY, "
        + "owner INTEGER NOT NULL, target INTEGER NOT NULL, owner_order INTEGER, "
        + "target_order INTEGER, UNIQUE (owner, target))")
    try connection.execute(
      "CREATE INDEX IF NOT EXISTS \((name + "_target").sqlName) ON \(name.sqlName) (target)")
  }
}
