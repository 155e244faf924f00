import SteadSQLite

/// The tables of a store's history, and the triggers that write it for programs other than this library.
struct HistoryTable {
  /// The table of the transactions.
  static let name = "stead_history"
  /// What the names of the history's triggers begin with.
  static let triggerPrefix = "stead_history_"
  /// Triggers write their changes here; a trigger of this table's makes transactions of them.
  static let foreignName = "stead_foreign"
  /// The key in `stead_metadata` of the last transaction that was deleted.
  static let deletedKey = "history"

  let connection: StoreConnection

  /// Makes or completes the tables.
  ///
  /// - Parameter triggers: The triggers that the store should have; others of the history are dropped.
  func prepare(_ triggers: [HistoryTrigger]) throws {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS \(Self.name) (number INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, \
      author TEXT, program TEXT, process INTEGER, changes TEXT)
      """)
    try begin()
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(Self.foreignName) "
        + "(kind INTEGER, entity TEXT, row INTEGER, properties TEXT, preserved TEXT)")
    try replaceTriggers(by: triggers)
  }

  /// Begins with the number that commits had before the history existed.
  private func begin() throws {
    guard try connection.integer("SELECT 1 FROM \(Self.name) LIMIT 1") == nil else { return }
    let isOlder = try connection.integer(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'stead_commit'")
    let number = isOlder == nil ? 0 : try connection.integer("SELECT number FROM stead_commit") ?? 0
    try connection.run(
      "INSERT INTO \(Self.name) (number, stamp) VALUES (?1, 0)", [.integer(number)])
  }

  private func replaceTriggers(by triggers: [HistoryTrigger]) throws {
    let rows = try connection.rows(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND substr(name, 1, ?1) = ?2",
      [.integer(Int64(Self.triggerPrefix.utf8.count)), .text(Self.triggerPrefix)])
    var stored: [String: String] = [:]
    for row in rows {
      if case .text(let name) = row[0], case .text(let sql) = row[1] { stored[name] = sql }
    }
    let wanted = Dictionary(triggers.map { ($0.name, $0.sql) }) { first, _ in first }
    for (name, sql) in stored where wanted[name] != sql {
      try connection.execute("DROP TRIGGER \(name.sqlName)")
    }
    for trigger in triggers where stored[trigger.name] != trigger.sql {
      try connection.execute(trigger.sql)
    }
  }

  /// Removes the triggers, since they name columns: a dropped column must not be in them.
  func dropTriggers() throws { try replaceTriggers(by: []) }
}

extension StoreConnection {
  /// Whether a history exists; a store of an earlier version that is opened read-only has none.
  func hasHistory() throws -> Bool {
    try integer(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", [.text(HistoryTable.name)])
      != nil
  }

  /// The number of the last transaction that was deleted from the history; 0 when none was.
  func lastDeletedTransaction() throws -> Int64 {
    try integer(
      "SELECT value FROM stead_metadata WHERE key = ?1", [.text(HistoryTable.deletedKey)]) ?? 0
  }
}
