import SteadSQLite

/// The earlier versions of all rows of a store: their tables are made and dropped together, and go back to one transaction.
struct RowVersions {
  /// It has a transaction open; a writing one to change something.
  let connection: StoreConnection

  /// The file's tables, with their columns as the file has them: another program may have changed these.
  func tables() throws -> [RowVersionTable] {
    let rows = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?1) = ?2",
      [.integer(Int64(RowVersionTable.prefix.utf8.count)), .text(RowVersionTable.prefix)])
    return try rows.compactMap { row in
      guard case .text(let name) = row[0] else { return nil }
      let columns = try connection.rows("SELECT name FROM pragma_table_info(?1)", [.text(name)])
      let names = columns.compactMap { row -> String? in
        if case .text(let name) = row[0], !name.hasPrefix("_stead_") { name } else { nil }
      }
      // Without keys: only the file's triggers need them, for plain SQL that replaces rows.
      return RowVersionTable(
        table: String(name.dropFirst(RowVersionTable.prefix.count)), columns: names, keys: [])
    }
  }

  /// Makes or drops the tables. If one is made, versions are complete from now on, in all tables.
  ///
  /// - Parameter wanted: The tables that the store should have.
  func prepare(_ wanted: [RowVersionTable]) throws {
    let rows = try connection.rows(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?1) = ?2",
      [.integer(Int64(RowVersionTable.prefix.utf8.count)), .text(RowVersionTable.prefix)])
    let sql = Dictionary(wanted.map { ($0.name, $0.creation) }) { first, _ in first }
    var kept: Set<String> = []
    for row in rows {
      guard case .text(let name) = row[0], case .text(let text) = row[1] else { continue }
      if sql[name] == text {
        kept.insert(name)
      } else {
        // Made for other columns: its versions could not be restored.
        try connection.execute("DROP TABLE \(name.sqlName)")
      }
    }
    let missing = wanted.filter { !kept.contains($0.name) }
    for table in missing { try connection.execute(table.creation) }
    // Without tables no transaction can be restored.
    if wanted.isEmpty {
      try connection.run(
        "DELETE FROM stead_metadata WHERE key = ?1", [.text(RowVersionTable.startKey)])
    } else if !missing.isEmpty {
      try raiseStart(to: connection.lastCommit().number)
    }
  }

  /// The transaction after which all changes have row versions; nil if none are kept.
  func start() throws -> Int64? {
    try connection.integer(
      "SELECT value FROM stead_metadata WHERE key = ?1", [.text(RowVersionTable.startKey)])
  }

  /// Records that versions are complete after a transaction. It is never taken back to an earlier
  /// one.
  private func raiseStart(to number: Int64) throws {
    try connection.run(
      "INSERT INTO stead_metadata VALUES (?1, ?2) "
        + "ON CONFLICT DO UPDATE SET value = max(value, excluded.value)",
      [.text(RowVersionTable.startKey), .integer(number)])
  }

  /// Removes the row versions of the transactions up to one.
  func remove(upTo number: Int64) throws {
    guard try start() != nil else { return }
    for table in try tables() {
      try connection.run(
        "DELETE FROM \(table.name.sqlName) WHERE \"_stead_entry\" < ?1",
        [.integer(RowVersionTable.firstEntry(of: number + 1))])
    }
    try raiseStart(to: number)
  }

  /// Assigns the entries of several transactions to the first, since they were merged into it.
  func merge(from number: Int64) throws {
    guard try start() != nil else { return }
    let end = RowVersionTable.firstEntry(of: number + 1)
    for table in try tables() {
      let name = table.name.sqlName
      let last = try connection.integer(
        "SELECT max(\"_stead_entry\") FROM \(name) WHERE \"_stead_entry\" < ?1", [.integer(end)])
      // After the entries of the transaction that they become part of.
      var next = max(last ?? 0, RowVersionTable.firstEntry(of: number)) + 1
      let later = try connection.rows(
        "SELECT \"_stead_entry\" FROM \(name) WHERE \"_stead_entry\" >= ?1 ORDER BY 1",
        [.integer(end)])
      // In rising order, so that each gets a number that is free: those of the ones before have been moved down.
      for row in later {
        try connection.run(
          "UPDATE \(name) SET \"_stead_entry\" = ?1 WHERE \"_stead_entry\" = ?2",
          [.integer(next), row[0]])
        next += 1
      }
    }
  }

  // MARK: Reading

  /// The versions of a table's rows before a transaction that changed them, by their numbers; nil for a row that did not
  /// exist.
  func rows(
    _ columns: [String], of table: String, before transaction: Int64
  ) throws -> [Int64: [SQLValue]?] {
    let list = columns.map { ", \($0.sqlName)" }.joined()
    let found = try connection.rows(
      "SELECT \"_stead_row\", \"_stead_was\"\(list) "
        + "FROM \((RowVersionTable.prefix + table).sqlName) "
        + "WHERE \"_stead_entry\" BETWEEN ?1 AND ?2 ORDER BY \"_stead_entry\"",
      [
        .integer(RowVersionTable.firstEntry(of: transaction)),
        .integer(RowVersionTable.firstEntry(of: transaction &+ 1) &- 1),
      ])
    var result: [Int64: [SQLValue]?] = [:]
    // The first entry has the row from before the transaction; later ones are of changes within it.
    for row in found {
      guard case .integer(let number) = row[0], result[number] == nil else { continue }
      result[number] = .some(row[1] == .integer(1) ? Array(row.dropFirst(2)) : nil)
    }
    return result
  }

  /// Throws unless the content after a transaction is known.
  ///
  /// - Parameter newest: The number of the last transaction.
  func check(_ number: Int64, newest: Int64) throws {
    // As after the store was replaced by an older backup of it.
    guard number <= newest else {
      throw SwiftDataError(
        .invalidTransactionFetchRequest,
        "The store has \(newest) transactions, and no transaction \(number). Use a token of this store."
      )
    }
    guard let start = try start() else {
      throw SwiftDataError(
        .oldValuesMissing,
        "The store keeps no old values. Open it with history set to withOldValues; its content is then known from "
          + "that moment on.")
    }
    guard number >= start else {
      throw SwiftDataError(
        .historyTokenExpired,
        "The store's old values begin after transaction \(start), so its content after transaction \(number) is not "
          + "known. Use a later token.")
    }
  }

  /// Restores the rows of all tables to their state after a transaction, while triggers record the changes.
  ///
  /// A row's first version after that transaction is its state as of then. For each table: rows that did not exist are
  /// deleted, rows that exist are updated in place, and deleted ones are inserted. An UPDATE leaves one entry in the
  /// history, where a deletion and an insertion would leave two. The range ends with `newest`, since the triggers add versions meanwhile.
  ///
  /// - Parameter newest: The number of the last transaction.
  func revert(to transaction: Int64, from newest: Int64) throws {
    let range: [SQLValue] = [
      .integer(RowVersionTable.firstEntry(of: transaction + 1)),
      .integer(RowVersionTable.firstEntry(of: newest + 1) - 1),
    ]
    for table in try tables() {
      try connection.retiringNumbers(of: table.table) { try revert(table, to: range) }
    }
  }

  /// Restores the rows of a table to their first versions within a range of entries.
  private func revert(_ table: RowVersionTable, to range: [SQLValue]) throws {
    let (name, old) = (table.table.sqlName, table.name.sqlName)
    let first =
      "\"_stead_entry\" IN (SELECT min(\"_stead_entry\") FROM \(old) "
      + "WHERE \"_stead_entry\" BETWEEN ?1 AND ?2 GROUP BY \"_stead_row\")"
    let columns = table.columns.map { ", \($0.sqlName)" }.joined()
    let insert =
      "INSERT INTO \(name) (\"_id\"\(columns)) SELECT \"_stead_row\"\(columns) FROM \(old) "
      + "WHERE \"_stead_was\" = 1 AND \(first) "
      + "AND \"_stead_row\" NOT IN (SELECT \"_id\" FROM \(name))"
    func delete(_ was: Int) throws {
      try connection.run(
        "DELETE FROM \(name) WHERE \"_id\" IN (SELECT \"_stead_row\" FROM \(old) "
          + "WHERE \"_stead_was\" = \(was) AND \(first))", range)
    }
    // First, so that rows which come back find their unique values free.
    try delete(0)
    // A row is its number alone in the table of a model without columns, so there is nothing to update.
    if !table.columns.isEmpty {
      let values = table.columns.map { "\($0.sqlName) = o.\($0.sqlName)" }.joined(separator: ", ")
      do {
        try connection.run(
          "UPDATE \(name) SET \(values) FROM \(old) AS o WHERE o.\"_stead_row\" = \(name).\"_id\" "
            + "AND o.\"_stead_was\" = 1 AND o.\(first)", range)
      } catch let error as SwiftDataError where error.code == .modelValidationFailure {
        // Two rows have swapped unique values, which SQLite checks row by row: delete and insert them instead.
        try delete(1)
      }
    }
    try connection.run(insert, range)
  }

  /// Restores the rows of all tables to their state after a transaction, and removes the later history: for a copy, whose
  /// triggers are dropped.
  func restore(_ transaction: Int64) throws {
    let limit = RowVersionTable.firstEntry(of: transaction + 1)
    // All of them first, so that no unique value is in the way of a row that comes back.
    for table in try tables() {
      let (name, old) = (table.table.sqlName, table.name.sqlName)
      // A backup of the copy can become a store that is written, and then the later rows' numbers are not given out again.
      try connection.retiringNumbers(of: table.table) {
        try connection.run(
          "DELETE FROM \(name) WHERE \"_id\" IN "
            + "(SELECT \"_stead_row\" FROM \(old) WHERE \"_stead_entry\" >= ?1)",
          [.integer(limit)])
      }
      let columns = table.columns.map { ", \($0.sqlName)" }.joined()
      try connection.run(
        "INSERT INTO \(name) (\"_id\"\(columns)) SELECT \"_stead_row\"\(columns) FROM \(old) "
          + "WHERE \"_stead_was\" = 1 AND \"_stead_entry\" IN (SELECT min(\"_stead_entry\") "
          + "FROM \(old) WHERE \"_stead_entry\" >= ?1 GROUP BY \"_stead_row\")", [.integer(limit)])
      // What came later is no part of the copy.
      try connection.run("DELETE FROM \(old) WHERE \"_stead_entry\" >= ?1", [.integer(limit)])
    }
    // The copy's last commit is that transaction from now on.
    try connection.run(
      "DELETE FROM \(HistoryTable.name) WHERE number > ?1", [.integer(transaction)])
  }
}

// MARK: - Table

/// The table of the earlier versions of another table's rows; RecordStore.md shows its columns.
///
/// Triggers write it: the file's triggers for plain SQL, and temporary ones on this library's writing connection, which
/// has the file's triggers off. So it has every change of a row, whatever made it, and a row's first entry after a
/// transaction holds the row as of that transaction.
///
/// The row of a stop before a change is recorded by:
///
/// ```sql
/// INSERT INTO "stead_old_Stop"
///   ("_stead_entry", "_stead_row", "_stead_was", "name", "trip", "_trip_order")
/// VALUES (…, old."_id", 1, old."name", old."trip", old."_trip_order");
/// ```
struct RowVersionTable {
  /// The prefix of these tables' names.
  static let prefix = "stead_old_"
  /// The key in `stead_metadata` of the transaction after which all changes have row versions.
  static let startKey = "old_rows"
  /// The bits of an entry's number that count the entries of one transaction: at most 2³² in a table. The rest is the
  /// transaction's number: at most 2³¹.
  static let entryBits: Int64 = 32

  /// The table that the rows belong to, unquoted.
  let table: String
  /// Its columns, unquoted, without `_id` and without those that SQLite computes.
  let columns: [String]
  /// The columns of each of its unique indexes.
  let keys: [[String]]

  /// The name of the table of versions, unquoted.
  var name: String { Self.prefix + table }

  /// The number of the first entry that a transaction can have.
  static func firstEntry(of transaction: Int64) -> Int64 { transaction << entryBits }

  /// The tables of a store's entities and of their pairs.
  static func all(tables: [TableLayout], layout: StoreLayout, entities: Set<Int>) -> [Self] {
    let held = layout.entities.filter { entities.contains($0.index) }
    var result = tables.map { table in
      let family = held.filter { $0.table == table.name }
      let keys = family.flatMap { entity in
        entity.uniqueConstraints.map { $0.compactMap { entity.properties[$0].column } }
      }
      return Self(
        table: table.name,
        columns: (table.isHierarchy ? ["_entity"] : [])
          + (table.columns + table.orders).map(\.name),
        // In a fixed order, since the triggers' SQL is compared with the file's.
        keys: Set(keys).sorted { $0.lexicographicallyPrecedes($1) })
    }
    var seen: Set<String> = []
    for join in held.flatMap({ entity in
      entity.joined.compactMap { entity.properties[$0].joinTable }
    })
    where seen.insert(join.name).inserted {
      result.append(
        Self(
          table: join.name, columns: ["owner", "target", "owner_order", "target_order"],
          keys: [["owner", "target"]]))
    }
    return result
  }

  // MARK: SQL

  /// The statement that creates the table. The columns have no type, so that values stay unconverted.
  var creation: String {
    "CREATE TABLE \(name.sqlName) (\"_stead_entry\" INTEGER PRIMARY KEY, "
      + "\"_stead_row\" INTEGER NOT NULL, \"_stead_was\" INTEGER NOT NULL"
      + columns.map { ", \($0.sqlName)" }.joined() + ")"
  }

  /// The columns of the table, quoted.
  var columnList: String { columns.map(\.sqlName).joined(separator: ", ") }

  /// The beginning of an INSERT of an entry, without the columns of values.
  private var head: String {
    "INSERT INTO \(name.sqlName) (\"_stead_entry\", \"_stead_row\", \"_stead_was\""
  }

  /// The number of the next entry: of the transaction that is open.
  ///
  /// It is one more than the last entry, or than ``firstEntry(of:)`` of the open transaction if that
  /// is greater. That transaction's number is one more than the last in the history: in SQL `+` comes
  /// before `<<`.
  private var next: String {
    "max(ifnull((SELECT max(\"_stead_entry\") FROM \(name.sqlName)), 0), "
      + "(SELECT max(number) FROM \(HistoryTable.name)) + 1 << \(Self.entryBits)) + 1"
  }

  /// The beginning of an INSERT of an entry with values.
  private var fullHead: String { head + columns.map { ", \($0.sqlName)" }.joined() + ")" }

  /// Records the row before it is changed or deleted.
  var recordOld: String {
    let values = columns.map { ", old.\($0.sqlName)" }.joined()
    return "\(fullHead) VALUES (\(next), old.\"_id\", 1\(values));"
  }

  /// Records that the row did not exist before this transaction.
  var recordNew: String { "\(head)) VALUES (\(next), new.\"_id\", 0);" }

  /// Records that a row did not exist under the number that it gets.
  var recordMoved: String {
    "\(head)) SELECT \(next), new.\"_id\", 0 WHERE new.\"_id\" <> old.\"_id\";"
  }

  /// Records the rows that an INSERT OR REPLACE deletes, for which SQLite fires no DELETE trigger.
  var recordReplaced: String {
    record(where: "\"_id\" = new.\"_id\"") + keys.map { " " + record(where: match($0)) }.joined()
  }

  /// Records the rows that an UPDATE OR REPLACE deletes.
  var recordDisplaced: String {
    record(where: "\"_id\" = new.\"_id\" AND new.\"_id\" <> old.\"_id\"")
      + keys.map { " " + record(where: match($0) + " AND \"_id\" <> old.\"_id\"") }.joined()
  }

  /// The condition that a row has the new row's values in a unique key.
  private func match(_ key: [String]) -> String {
    key.map { "\($0.sqlName) = new.\($0.sqlName)" }.joined(separator: " AND ")
  }

  /// One row at most, since the numbers of two would be the same.
  private func record(where condition: String) -> String {
    "\(fullHead) SELECT \(next), \"_id\", 1\(columns.map { ", \($0.sqlName)" }.joined()) "
      + "FROM \(table.sqlName) WHERE \(condition) LIMIT 1;"
  }

  // MARK: Triggers of the connection that writes

  /// The events of temporary triggers, in the order of their statements.
  private static let events = ["insert", "update", "delete"]

  /// Makes temporary triggers, for a connection that has the file's triggers off.
  func makeTemporaryTriggers(on connection: StoreConnection) throws {
    try dropTemporaryTriggers(on: connection)
    // Three are enough: this library replaces no rows, and changes no row's number.
    for (event, note) in zip(Self.events, [recordNew, recordOld, recordOld]) {
      try connection.execute(
        "CREATE TEMP TRIGGER \("\(name)_\(event)".sqlName) AFTER \(event) ON \(table.sqlName) "
          + "BEGIN \(note) END")
    }
  }

  /// Drops them, for a connection on which the file's triggers are on again.
  func dropTemporaryTriggers(on connection: StoreConnection) throws {
    for event in Self.events {
      try connection.execute("DROP TRIGGER IF EXISTS temp.\("\(name)_\(event)".sqlName)")
    }
  }
}
