import Foundation
import SteadSQLite

// Sendable: `StoreWriter` only uses its connection under a lock, and `ReaderPool` lends a reader to one thread at a time,
// so that no two threads use the connection's variables at once.
/// One connection to a store, and what is known about the commit that it sees; used by one thread at a time.
///
/// Besides SQLite's own connection it has what a save or a look-up needs each time, so that nothing
/// of it is searched for: the statements of transactions, the statements that select single rows,
/// and the next free numbers.
final class StoreConnection: @unchecked Sendable {
  /// SQLite's connection, hardened as ``StoreFile`` asks.
  private let database: SQLiteConnection
  /// The statements that select one row, by entity.
  private var selections: [SQLiteStatement?] = []
  /// The state of the snapshot that a reader keeps open between look-ups.
  var snapshot: Snapshot?

  /// A read transaction that is left open, so that look-ups within a short time share it.
  struct Snapshot {
    /// The number of the last commit that it has.
    let number: Int64
    /// When it was taken, on the monotonic clock, in nanoseconds.
    let openedAt: UInt64
  }

  /// Whether SQLite reads the file as one that never changes, without its log and index.
  private let isImmutable: Bool

  /// Opens a connection; ``StoreFile/open(writable:keepsJournalMode:isAlone:)`` sets the options.
  init(_ options: SQLiteOptions) throws {
    isImmutable = options.isImmutable
    database = try SQLiteConnection(options)
  }

  // The statements of every transaction have separate fields, so that no SQL is hashed for them.
  private lazy var beginning = try? SQLiteStatement("BEGIN", on: database)
  private lazy var immediateBeginning = try? SQLiteStatement("BEGIN IMMEDIATE", on: database)
  private lazy var committing = try? SQLiteStatement("COMMIT", on: database)
  private lazy var reading = try? SQLiteStatement(CommitRow.selection, on: database)
  /// ``CommitRow/insertion``; nil if it could not be prepared.
  private(set) lazy var rowInsertion = try? SQLiteStatement(CommitRow.insertion, on: database)

  /// Begins a read transaction. Its snapshot is taken by the first statement that reads.
  func begin() throws { try run(beginning, "BEGIN") }

  /// Begins a write transaction; waits for the write lock of other connections.
  func beginImmediate() throws { try run(immediateBeginning, "BEGIN IMMEDIATE") }

  /// Commits. If it throws, the transaction may still be open: ask ``isInTransaction``.
  func commit() throws { try run(committing, "COMMIT") }

  /// Runs a prepared statement. One that could not be prepared is run as SQL, which throws the reason.
  private func run(_ statement: SQLiteStatement?, _ sql: String) throws {
    guard let statement else { return try execute(sql) }
    try statement.run()
  }

  /// The last commit that the connection sees; 0 in a store that never had one.
  func lastCommit() throws -> CommitLog.Point {
    // A store of an earlier version has no such table. The statement is made once, so this must not
    // be asked of a new store before its tables are made: the answer would stay 0.
    guard let reading else { return .init(number: 0, stamp: 0) }
    defer { reading.rewind() }
    guard try reading.step() else { return .init(number: 0, stamp: 0) }
    return .init(number: reading.integer(0), stamp: reading.integer(1))
  }

  /// How often SQLite had compiled `reading` when ``hasNewTables`` was asked last; -1 before the
  /// first time.
  private var knownCompilations: Int32 = -1

  /// Whether the tables may have changed since this was asked last: SQLite has compiled ``lastCommit()``'s statement
  /// again, which it does for each new version of the tables. Costs no statement.
  var hasNewTables: Bool {
    let compilations = reading?.compilationCount ?? 0
    defer { knownCompilations = compilations }
    return compilations != knownCompilations
  }

  /// What the open transaction has changed so far.
  var changes = ChangeList()
  /// Whether the history should record them.
  ///
  /// False if the history is off: transactions are only counted then.
  var notesChanges = false

  /// The next free row of the last written hierarchies, by their roots. Forgotten when other processes may have
  /// written.
  var nextRows: [Int: Int64] = [:]

  /// Whether new rows and pairs get numbers from the counter of the process (`KeyNumber`) instead of the table: in
  /// the mirror of a custom store, where a number also stands for a primary key.
  var numbersRowsByKey = false

  /// When the file is marked again as lacking its log.
  var logMark = LogMark()

  /// What the last snapshot of a reader had, as far as it is known to be of no transaction that was under way.
  var lastSnapshot: LastSnapshot?

  /// What is compared with the next snapshot: if its number is the same and the file has changed, a program that
  /// counts no commits has written.
  struct LastSnapshot {
    var number: Int64
    var version: UInt32
    var quietCount: UInt64
    /// Whether another program may have made a change before it that no snapshot of this connection shows.
    var isDoubtful: Bool
  }

  /// The statement that selects one row of an entity by its number; found without hashing its SQL.
  ///
  /// It is always left rewound.
  func selection(of plan: EntityPlan) throws -> SQLiteStatement {
    let index = plan.entity.index
    if index < selections.count, let statement = selections[index] { return statement }
    while selections.count <= index { selections.append(nil) }
    let statement = try SQLiteStatement(plan.selectByID, on: database)
    selections[index] = statement
    return statement
  }

  /// The caller's own statement, which must not outlive the connection.
  func prepare(_ sql: String) throws -> SQLiteStatement { try SQLiteStatement(sql, on: database) }

  /// The schema that the store was last opened with; nil if there is none.
  ///
  /// - Throws: `unreadableStore` if the stored string isn't a schema.
  func storedSchema() throws -> Schema? {
    // A file without the mark of a store has no `stead_metadata` either.
    guard try integer("PRAGMA application_id") == StoreFile.applicationID else { return nil }
    let rows = try rows("SELECT value FROM stead_metadata WHERE key = 'schema'")
    guard case .text(let text)? = rows.first?.first else { return nil }
    do {
      return try JSONDecoder().decode(Schema.self, from: Data(text.utf8))
    } catch {
      throw SwiftDataError(
        .unreadableStore,
        "The store's record of its models, in stead_metadata, cannot be read: another program has written it. Open a backup.",
        cause: error)
    }
  }

  // MARK: As of any database

  /// ``SQLiteConnection/statement(_:)``
  func statement(_ sql: String) throws -> SQLiteStatement { try database.statement(sql) }
  /// ``SQLiteConnection/execute(_:)``
  func execute(_ sql: String) throws { try database.execute(sql) }
  /// ``SQLiteConnection/run(_:_:)``
  func run(_ sql: String, _ values: [SQLValue] = []) throws { try database.run(sql, values) }
  /// ``SQLiteConnection/rows(_:_:)``
  func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
    try database.rows(sql, values)
  }
  /// ``SQLiteConnection/integer(_:_:)``
  func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64? {
    try database.integer(sql, values)
  }
  /// ``SQLiteConnection/hasMoved``
  var hasMoved: Bool { database.hasMoved }
  /// ``SQLiteConnection/hasWholeLog``
  var hasWholeLog: Bool { database.hasWholeLog }

  /// ``SQLiteConnection/fileHeader``
  var fileHeader: SQLiteConnection.FileHeader { database.fileHeader }
  /// ``SQLiteConnection/checkpoint(_:busyTimeout:)``
  func checkpoint(_ kind: SQLiteConnection.Checkpoint, busyTimeout: Int32) throws -> Bool {
    try database.checkpoint(kind, busyTimeout: busyTimeout)
  }
  /// ``SQLiteConnection/useLog(pause:)``
  func useLog() throws -> Bool { try database.useLog() }
  /// ``SQLiteConnection/keepLog(_:)``
  func keepLog(_ keeps: Bool = true) { database.keepLog(keeps) }
  /// ``SQLiteConnection/copy(to:_:)``
  func copy(to path: String, _ progress: (_ copied: Int, _ total: Int) throws -> Void) throws {
    try database.copy(to: path, progress)
  }
  /// ``SQLiteConnection/interruptibly(_:_:)``
  func interruptibly<Result>(
    _ question: () throws -> Void, _ body: () throws -> Result
  ) throws -> Result {
    try database.interruptibly(question, body)
  }
  /// Puts what this database holds in place of another's.
  func backup(into other: StoreConnection) throws -> SQLiteBackup {
    try SQLiteBackup(from: database, into: other.database)
  }
  /// ``SQLiteConnection/changedRows``
  var changedRows: Int { database.changedRows }
  /// ``SQLiteConnection/isInTransaction``
  var isInTransaction: Bool { database.isInTransaction }
  /// ``SQLiteConnection/setsOffTriggers(_:)``
  func setsOffTriggers(_ isOn: Bool) throws { try database.setsOffTriggers(isOn) }
  /// Whether SQLite keeps an index of the log for this file. Asked once, since a store keeps its
  /// journal mode.
  private lazy var hasLogIndex =
    !isImmutable && (try? rows("PRAGMA journal_mode").first?.first) == .text("wal")
  /// ``SQLiteConnection/commitCount``; nil for a file without a log, too.
  var commitCount: UInt32? { hasLogIndex ? database.commitCount : nil }
  /// ``SQLiteConnection/writtenPages``
  var writtenPages: Int32 { database.writtenPages }
  /// ``SQLiteConnection/dataVersion``
  var dataVersion: UInt32 { database.dataVersion }
}

// MARK: - Writing

// The statements that a save runs, except those for an entity's own rows, which are in its plan.

extension StoreConnection {
  // MARK: Numbers of rows

  /// Runs a body that deletes rows or pairs of a table, and keeps their numbers from being given out again: an identifier
  /// that somebody has kept must not lead to a later object, and no member's place may be a number that is still to come.
  ///
  /// Whatever deletes rows or pairs does it in such a body, except saves, which retire the numbers of pairs with those that
  /// they have drawn (``ListPlaces``), and migrations (``GivenNumbers``). Costs two look-ups of the greatest number.
  func retiringNumbers<Result>(of table: String, _ deletion: () throws -> Result) throws -> Result {
    // The numbers of a mirror are the process's, which gives out none twice.
    if numbersRowsByKey { return try deletion() }
    // Before the deletion, which may take the row that has it.
    let newest = try greatestNumber(in: table)
    let result = try deletion()
    // Most deletions leave the newest row, and then nothing is written.
    if try greatestNumber(in: table) < newest { try retire(newest, table: table) }
    return result
  }

  /// The greatest number that a row or pair of a table has.
  ///
  /// Those that were deleted do not count; see ``lastNumber(in:)``.
  private func greatestNumber(in table: String) throws -> Int64 {
    try integer("SELECT max(\"_id\") FROM \(table.sqlName)") ?? 0
  }

  /// Keeps the numbers up to one from being given out again.
  func retire(_ number: Int64, table: String) throws {
    // max(): the entry may be greater already, and must never fall.
    try run(
      "INSERT INTO stead_sequence VALUES (?1, ?2) "
        + "ON CONFLICT DO UPDATE SET last = max(CAST(last AS INTEGER), excluded.last)",
      [.text(table), .integer(number)])
  }

  /// The greatest number that a row or pair has. Above it are more numbers than one save can use, so a save can count
  /// up without a check.
  static let numberLimit: Int64 = .max - 1 << 32

  /// A number that no row of an entity's table has or has had.
  func nextNumber(of plan: EntityPlan) throws -> Int64 {
    try number(after: integer(plan.newest), in: plan.tableLayout.name)
  }

  /// The number after the greatest one of a table, which another program may have written.
  ///
  /// - Throws: `unreadableStore` if the numbers are used up.
  private func number(after last: Int64?, in table: String) throws -> Int64 {
    let last = last ?? 0
    if last > Self.numberLimit {
      throw SwiftDataError(.unreadableStore, Self.exhaustion(of: table))
    }
    return last + 1
  }

  /// The message about a table whose numbers are used up.
  static func exhaustion(of table: String) -> String {
    "The table \(table) has a row, or stead_sequence has an entry for it, with a number that leaves none for new rows: "
      + "another program has written it. Nothing was written. Open a backup, or remove the row or the entry."
  }

  // MARK: Join tables

  /// A number that no row of a table has or has had.
  func nextNumber(in table: String) throws -> Int64 {
    try number(after: lastNumber(in: table), in: table)
  }

  /// The greatest number that a row or pair of a table has or has had.
  func lastNumber(in table: String) throws -> Int64 {
    try integer(
      "SELECT max(ifnull((SELECT max(\"_id\") FROM \(table.sqlName)), 0), "
        + "ifnull((SELECT CAST(last AS INTEGER) FROM stead_sequence WHERE name = ?1), 0))",
      [.text(table)]) ?? 0
  }

  /// Inserts a pair unless it exists: undo records a pair from both sides of a relationship.
  ///
  /// - Throws: `storeFailure` if the pair's number is taken, as by a trigger of another program.
  func insertPair(
    _ join: JoinTable, _ number: Int64, _ owner: Int64, _ target: Int64
  ) throws {
    try run(
      "INSERT OR IGNORE INTO \(join.name.sqlName) (\"_id\", \(join.owner), \(join.target)) "
        + "VALUES (?1, ?2, ?3)", [.integer(number), .integer(owner), .integer(target)])
    if changedRows > 0 { return }
    let found = try integers(
      "SELECT \"_id\" FROM \(join.name.sqlName) WHERE \(join.owner) = ?1 AND \(join.target) = ?2",
      [.integer(owner), .integer(target)])
    if !found.isEmpty { return }
    throw SwiftDataError(
      .storeFailure,
      "The table \(join.name) has another pair of the number \(number), so a new one could not be added: another program "
        + "has changed the table. Nothing was saved; save again.")
  }

  /// Deletes a pair if it exists.
  func deletePair(_ join: JoinTable, _ owner: Int64, _ target: Int64) throws {
    try run(
      "DELETE FROM \(join.name.sqlName) WHERE \(join.owner) = ?1 AND \(join.target) = ?2",
      [.integer(owner), .integer(target)])
  }

  /// Deletes all pairs of an owner.
  func deletePairs(_ join: JoinTable, owner: Int64) throws {
    try run("DELETE FROM \(join.name.sqlName) WHERE \(join.owner) = ?1", [.integer(owner)])
  }

  /// Deletes the pairs that lead to a row, and returns their owners.
  func deletePairs(_ join: JoinTable, target: Int64) throws -> [Int64] {
    try integers(
      "DELETE FROM \(join.name.sqlName) WHERE \(join.target) = ?1 RETURNING \(join.owner)",
      [.integer(target)])
  }

  // MARK: References

  /// Clears a column where it leads to a row, and returns the rows where it did.
  ///
  /// - Parameters:
  ///   - rows: SQL that follows another condition, and selects rows of a class and its subclasses: sibling classes may
  ///     share the column.
  ///   - list: The number of a list, and its column; rows in other lists are left out.
  func clearReferences(
    in table: String, _ column: String, to row: Int64, of rows: String, except owner: Int64 = 0,
    list: (column: String, number: Int)? = nil
  ) throws -> [Int64] {
    // NULL is the first list, whose number is 0.
    let test = list.map { " AND ifnull(\($0.column.sqlName), 0) = \($0.number)" } ?? ""
    return try integers(
      "UPDATE \(table.sqlName) SET \(column.sqlName) = NULL WHERE \(column.sqlName) = ?1 "
        + "AND \"_id\" <> ?2\(rows)\(test) RETURNING \"_id\"", [.integer(row), .integer(owner)])
  }

  /// The row that a column of another leads to.
  func reference(in table: String, _ column: String, row: Int64) throws -> Int64? {
    try integer(
      "SELECT \(column.sqlName) FROM \(table.sqlName) WHERE \"_id\" = ?1", [.integer(row)])
  }

  /// Clears values of a row, so that another row can have them.
  func clear(_ columns: [String], in table: String, row: Int64) throws {
    // A unique index takes any number of NULLs, so several rows can be cleared at once.
    let assignments = columns.map { "\($0.sqlName) = NULL" }.joined(separator: ", ")
    try run(
      "UPDATE \(table.sqlName) SET \(assignments) WHERE \"_id\" = ?1", [.integer(row)])
  }

  /// The row that has some values, with the number of its class in a hierarchy's table; nil when none has.
  func row(
    in table: String, _ columns: [String], _ values: [SQLValue], readsClass: Bool
  ) throws -> (row: Int64, discriminator: Int?)? {
    let terms = columns.enumerated().map { "\($1.sqlName) = ?\($0 + 1)" }
    let found = try rows(
      "SELECT \"_id\", \(readsClass ? "\"_entity\"" : "NULL") FROM \(table.sqlName) "
        + "WHERE \(terms.joined(separator: " AND "))", values)
    guard let first = found.first, case .integer(let row) = first[0] else { return nil }
    if case .integer(let number) = first[1] { return (row, Int(number)) }
    return (row, nil)
  }

  /// Whether the table of an entity has a row with a number, of whichever class.
  func hasRow(_ row: Int64, in plan: EntityPlan) throws -> Bool {
    try integer("SELECT 1 FROM \(plan.table) WHERE \"_id\" = ?1", [.integer(row)]) != nil
  }

  /// The name of the file that holds a large value, when one does.
  func fileName(in table: String, _ column: String, row: Int64) throws -> String? {
    let rows = try rows(
      "SELECT \(column.sqlName) FROM \(table.sqlName) WHERE \"_id\" = ?1", [.integer(row)])
    guard case .text(let name)? = rows.first?.first else { return nil }
    return name
  }

  /// Creates a table of pairs and its index unless they exist.
  func create(_ join: JoinTable) throws {
    // IF NOT EXISTS: both sides of a relationship, and subclasses, ask for one table.
    let name = join.name.sqlName
    try execute(
      "CREATE TABLE IF NOT EXISTS \(name) (\"_id\" INTEGER PRIMARY KEY, "
        + "owner INTEGER NOT NULL, target INTEGER NOT NULL, owner_order INTEGER, "
        + "target_order INTEGER, UNIQUE (owner, target))")
    try execute(
      "CREATE INDEX IF NOT EXISTS \(TableIndex(ofPairs: join.name).name.sqlName) ON \(name) (target)"
    )
  }

  // MARK: Places in to-many relationships

  // A member's position is its row's number, or its pair's, unless the order column has another.

  /// The members of a relationship with the place of each.
  func places(_ storage: ToManyStorage, _ plan: EntityPlan, owner: Int64) throws -> [Int64: Int64] {
    let sql: String
    switch storage {
    case .inverse(let toOne):
      let column = plan.entity.properties[toOne].column ?? ""
      sql =
        "SELECT \"_id\", ifnull(\(HiddenColumn.order(of: column).sqlName), \"_id\") "
        + "FROM \(plan.table) WHERE \(column.sqlName) = ?1"
    case .join(let table, let ownerColumn, let target):
      sql =
        "SELECT \(target), ifnull(\(ownerColumn)_order, \"_id\") FROM \(table.sqlName) "
        + "WHERE \(ownerColumn) = ?1"
    }
    var result: [Int64: Int64] = [:]
    for row in try rows(sql, [.integer(owner)]) {
      if case .integer(let member) = row[0], case .integer(let place) = row[1] {
        result[member] = place
      }
    }
    return result
  }

  /// Sets the position of a member in the order column of its row or its pair.
  func setPlace(
    _ place: Int64, _ storage: ToManyStorage, _ plan: EntityPlan, owner: Int64, member: Int64
  ) throws {
    switch storage {
    case .inverse(let toOne):
      let column = plan.entity.properties[toOne].column ?? ""
      // A row that has another owner by now keeps its place there.
      try run(
        "UPDATE \(plan.table) SET \(HiddenColumn.order(of: column).sqlName) = ?1 "
          + "WHERE \"_id\" = ?2 AND \(column.sqlName) = ?3",
        [.integer(place), .integer(member), .integer(owner)])
    case .join(let table, let ownerColumn, let target):
      try run(
        "UPDATE \(table.sqlName) SET \(ownerColumn)_order = ?1 "
          + "WHERE \(target) = ?2 AND \(ownerColumn) = ?3",
        [.integer(place), .integer(member), .integer(owner)])
    }
  }

  /// Deletes rows by their numbers.
  ///
  /// Rows that are gone are no error.
  func delete(_ rows: [Int64], of plan: EntityPlan) throws {
    let runs = RowRuns(rows)
    if !runs.runs.isEmpty {
      let statement = try statement(plan.deleteRange)
      for run in runs.runs {
        statement.bind(run.lowerBound, at: 1)
        statement.bind(run.upperBound, at: 2)
        try statement.run()
      }
    }
    guard !runs.singles.isEmpty else { return }
    let statement = try statement(plan.delete)
    for row in runs.singles {
      statement.bind(row, at: 1)
      try statement.run()
    }
  }

  /// Deletes the rows that a SELECT of row numbers returns, and returns their numbers.
  func deleteRows(of plan: EntityPlan, selectedBy selection: SQLFragment) throws -> [Int64] {
    let preserved = PreservedColumns(plan.entity.properties)
    let tombstone = preserved.isEmpty ? "NULL" : preserved.list()
    // RETURNING gives the values that the history preserves, without a SELECT before.
    let deleted = try retiringNumbers(of: plan.tableLayout.name) {
      try self.rows(
        "DELETE FROM \(plan.table) WHERE \"_id\" IN (\(selection.sql)) "
          + "RETURNING \"_id\", \(tombstone)", selection.bindings)
    }
    var rows: [Int64] = []
    for columns in deleted {
      guard case .integer(let row) = columns[0] else { continue }
      rows.append(row)
      guard notesChanges else { continue }
      var values: String?
      if case .text(let text) = columns[1] { values = text }
      changes.record(.delete, plan.entity, row: row, properties: preserved.set, values: values)
    }
    return rows
  }

  /// A statement that returns its parameters, by which values that an object binds are read back.
  func echo(count: Int) throws -> SQLiteStatement {
    try statement("SELECT \((1...max(count, 1)).map { "?\($0)" }.joined(separator: ", "))")
  }

  /// The first column of each row that has an integer there.
  func integers(_ sql: String, _ values: [SQLValue]) throws -> [Int64] {
    try rows(sql, values).compactMap {
      if case .integer(let value)? = $0.first { value } else { nil }
    }
  }
}
