import Foundation
import SteadSQLite

/// Writes the history of what one connection commits.
///
/// The file's triggers are off on that connection, since it records its changes itself, which costs less than a trigger for
/// each row. Triggers that maintain the full-text tables are created again as temporary ones, from this library's
/// own SQL. If a file has other triggers, which a user may have made, all stay on, and they write the history.
final class HistoryWriter {
  /// The connection that writes, whose commits are recorded.
  private let connection: StoreConnection
  /// Says whether the history is on.
  private let configuration: ModelConfiguration
  /// The full-text tables of this store's entities.
  private let searchTables: [SearchTable]
  /// The schema version for which triggers were set up last; nil before, and after ``invalidateTriggers()``.
  private(set) var schemaVersion: Int64?
  /// Whether the file's triggers are on, and write the history.
  private var usesTriggers = false
  /// The tables of row versions that the connection writes with its own temporary triggers.
  private var versionTables: [RowVersionTable] = []

  /// Sets nothing up yet: ``prepareTriggers()`` does, with the first transaction.
  init(
    _ connection: StoreConnection, _ configuration: ModelConfiguration, _ layout: StoreLayout,
    _ entities: Set<Int>
  ) {
    self.connection = connection
    self.configuration = configuration
    searchTables = layout.entities.filter {
      entities.contains($0.index) && !$0.searchable.isEmpty
    }.map { SearchTable(entity: $0) }
    connection.notesChanges = configuration.history != .off
  }

  /// Turns the file's triggers off, or on if it has any that are not this library's.
  ///
  /// Called at the start of each transaction; costs a read of the schema version while that is unchanged.
  ///
  /// Invariant of a store on file: afterwards either the file's triggers are off, and this connection
  /// has temporary ones for full text and earlier versions; or all triggers of the file are on, and
  /// there are no temporary ones. So each change is indexed and kept once.
  func prepareTriggers() throws {
    // No other process writes to a store in memory, which has no triggers of the history.
    if configuration.isStoredInMemoryOnly {
      if schemaVersion == nil { try recordRowVersions() }
      schemaVersion = 0
      return
    }
    let version = try connection.integer("PRAGMA schema_version")
    if version == schemaVersion { return }
    // What this library has made is known. A user's trigger may have effects that must not be lost.
    let own = Set(searchTables.flatMap(\.triggerNames))
    let rows = try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    usesTriggers = rows.contains { row in
      guard case .text(let name) = row[0] else { return true }
      return !own.contains(name) && !name.hasPrefix(HistoryTable.triggerPrefix)
    }
    // Temporary triggers are always on: beside the file's, they would index each row twice.
    for table in searchTables {
      if usesTriggers {
        try table.dropTemporaryTriggers(on: connection)
      } else {
        try table.makeTemporaryTriggers(on: connection)
      }
    }
    try recordRowVersions()
    try connection.setsOffTriggers(usesTriggers)
    schemaVersion = version
  }

  /// Records row versions wherever the file keeps them, whatever this program's configuration is.
  private func recordRowVersions() throws {
    // Made again each time, since the file may have other tables by now.
    for table in versionTables { try table.dropTemporaryTriggers(on: connection) }
    versionTables = usesTriggers ? [] : try RowVersions(connection: connection).tables()
    for table in versionTables { try table.makeTemporaryTriggers(on: connection) }
  }

  /// Lets the file's triggers record what the open transaction changes, as they do for plain SQL.
  ///
  /// ``prepareTriggers()`` ends it, before the next transaction.
  func useTriggers() throws {
    for table in searchTables { try table.dropTemporaryTriggers(on: connection) }
    for table in versionTables { try table.dropTemporaryTriggers(on: connection) }
    versionTables = []
    try connection.setsOffTriggers(true)
    usesTriggers = true
    invalidateTriggers()
  }

  /// Makes the next transaction set up the triggers again: a rollback has removed temporary ones that were made within it.
  func invalidateTriggers() { schemaVersion = nil }

  /// Writes the row of the commit that is about to be made, and returns its point.
  ///
  /// Last before the commit, and in its transaction: so the number and the changes are committed together, or not at all.
  func write(after newest: CommitLog.Point) throws -> CommitLog.Point {
    let changes = connection.changes
    let triggered = usesTriggers ? try mergeTriggered(from: newest.number + 1) : nil
    // No edit may be younger than its commit: ages are not negative.
    let commit = try newest.next(atLeast: triggered?.stamp ?? changes.newestStamp)
    // With the file's triggers on, a row in the list would be recorded twice.
    var text = triggered?.text
    if !usesTriggers, !changes.isEmpty { text = changes.text(at: commit.stamp) }
    try connection.write(commit, connection.notesChanges ? text : nil, by: changes.author)
    return commit
  }

  /// Removes the triggers' rows since the last commit, and returns their changes as those of one transaction; nil if there
  /// are none. A trigger cannot see where a transaction begins, so it has written one for each row.
  private func mergeTriggered(from number: Int64) throws -> (text: String, stamp: Int64)? {
    let rows = try connection.rows(CommitRow.triggered, [.integer(number)])
    guard !rows.isEmpty else { return nil }
    var texts: [String] = []
    var newest: Int64 = 0
    for row in rows {
      if case .text(let text) = row[0] { texts.append(text) }
      if case .integer(let stamp) = row[1] { newest = max(newest, stamp) }
    }
    try connection.run(CommitRow.triggeredRemoval, [.integer(number)])
    // After one row, too: a change of a column without a property follows it without its own row.
    try RowVersions(connection: connection).merge(from: number)
    return HistoryFormat.joined(texts).map { ($0, newest) }
  }
}

// MARK: - Tables

/// The tables of a store's history, and the triggers that write it for programs other than this library.
struct HistoryTable {
  /// The table of the transactions.
  static let name = "stead_history"
  /// The prefix of the names of the history's triggers.
  static let triggerPrefix = "stead_history_"
  /// The table that triggers insert their changes into. A trigger of its own turns each into a transaction, and keeps no row.
  static let foreignName = "stead_foreign"
  /// The key in `stead_metadata` of the last transaction that was deleted.
  static let deletedKey = "history"

  /// It has the transaction open that opens the store.
  let connection: StoreConnection

  /// Makes or completes the tables.
  ///
  /// - Parameter triggers: The triggers that the store should have; others of the history are dropped.
  func prepare(_ triggers: [HistoryTrigger]) throws {
    try connection.execute("CREATE TABLE IF NOT EXISTS \(Self.name) (\(CommitRow.columns))")
    try begin()
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(Self.foreignName) "
        + "(kind INTEGER, entity TEXT, row INTEGER, properties TEXT, preserved TEXT)")
    try replaceTriggers(by: triggers)
  }

  /// Inserts the first row, with the number that commits had in a store of an earlier version.
  private func begin() throws {
    guard try connection.integer("SELECT 1 FROM \(Self.name) LIMIT 1") == nil else { return }
    // Commits go on counting from there.
    let isOlder = try connection.integer(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'stead_commit'")
    let number = isOlder == nil ? 0 : try connection.integer("SELECT number FROM stead_commit") ?? 0
    try connection.run(
      "INSERT INTO \(Self.name) (number, stamp) VALUES (?1, 0)", [.integer(number)])
  }

  /// Makes the history's triggers those that are wanted. Unchanged ones stay: each DROP and CREATE changes SQLite's
  /// schema version, upon which every connection prepares its statements again.
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
