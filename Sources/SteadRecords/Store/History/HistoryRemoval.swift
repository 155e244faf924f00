import SteadSQLite

/// Deletes transactions, and records that they existed.
struct HistoryRemoval {
  let connection: StoreConnection

  /// Deletes the transactions whose numbers a body returns; nil for all.
  func run(_ numbers: () throws -> [Int64]?) throws {
    guard let numbers = try numbers() else { return try removeAll() }
    guard let last = numbers.max() else { return }
    // The newest row counts the store's commits, so it stays, without changes.
    let newest = try connection.lastCommit().number
    for number in numbers where number != newest {
      try connection.run("DELETE FROM stead_history WHERE number = ?1", [.integer(number)])
    }
    if last == newest { try empty(newest) }
    try record(last)
    try removeOldRows(newest)
  }

  /// Removes the old rows of the transactions before the first that is left.
  private func removeOldRows(_ newest: Int64) throws {
    let first = try connection.integer(
      "SELECT min(number) FROM stead_history WHERE changes IS NOT NULL")
    try OldRows(connection: connection).remove(upTo: first.map { max($0, 1) - 1 } ?? newest)
  }

  /// Deletes the transactions up to one.
  func remove(upTo last: Int64) throws {
    let count = try connection.integer(
      "SELECT 1 FROM stead_history WHERE number <= ?1 AND changes IS NOT NULL LIMIT 1",
      [.integer(last)])
    guard count != nil else { return }
    let newest = try connection.lastCommit().number
    try connection.run(
      "DELETE FROM stead_history WHERE number <= ?1 AND number <> ?2",
      [.integer(last), .integer(newest)])
    if last >= newest { try empty(newest) }
    try record(min(last, newest))
    try removeOldRows(newest)
  }

  /// Deletes all transactions.
  func removeAll() throws {
    let newest = try connection.lastCommit().number
    let last = try connection.integer(
      "SELECT max(number) FROM stead_history WHERE changes IS NOT NULL")
    guard let last else { return }
    try connection.run("DELETE FROM stead_history WHERE number < ?1", [.integer(newest)])
    try empty(newest)
    try record(last)
    try removeOldRows(newest)
  }

  private func empty(_ number: Int64) throws {
    try connection.run(
      "UPDATE stead_history SET author = NULL, program = NULL, process = NULL, changes = NULL "
        + "WHERE number = ?1", [.integer(number)])
  }

  /// Has the tokens of the transactions before one expire.
  func record(_ last: Int64) throws {
    try connection.run(
      "INSERT INTO stead_metadata VALUES (?1, ?2) "
        + "ON CONFLICT DO UPDATE SET value = max(value, excluded.value)",
      [.text(HistoryTable.deletedKey), .integer(last)])
  }
}
