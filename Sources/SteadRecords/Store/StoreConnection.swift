import Foundation
import SteadSQLite

// Sendable: `RecordStore` only uses its writer under a lock, and `ReaderPool` lends a reader to one thread at a time,
// so that no two threads use the connection's variables at once.
/// One connection to a store, and what is known about the commit that it sees; used by one thread at a time.
final class StoreConnection: @unchecked Sendable {
  private let database: SQLiteConnection
  /// The statements that select one row, by entity.
  private var selections: [SQLiteStatement?] = []
  /// The state of the snapshot that a reader keeps open between look-ups.
  var snapshot: Snapshot?

  struct Snapshot {
    /// The number of the last commit that it has.
    let number: Int64
    let openedAt: UInt64
  }

  private let isImmutable: Bool

  init(_ options: SQLiteOptions) throws {
    isImmutable = options.isImmutable
    database = try SQLiteConnection(options)
  }

  // The statements of every transaction have separate fields, so that no SQL is hashed for them.
  private lazy var beginning = try? SQLiteStatement("BEGIN", on: database)
  private lazy var immediateBeginning = try? SQLiteStatement("BEGIN IMMEDIATE", on: database)
  private lazy var committing = try? SQLiteStatement("COMMIT", on: database)
  private lazy var reading = try? SQLiteStatement(CommitRow.selection, on: database)
  private lazy var writing = try? SQLiteStatement(CommitRow.insertion, on: database)

  func begin() throws { try run(beginning, "BEGIN") }

  func beginImmediate() throws { try run(immediateBeginning, "BEGIN IMMEDIATE") }

  func commit() throws { try run(committing, "COMMIT") }

  private func run(_ statement: SQLiteStatement?, _ sql: String) throws {
    guard let statement else { return try execute(sql) }
    try statement.run()
  }

  /// The last commit that the connection sees; 0 in a store that never had one.
  func lastCommit() throws -> CommitLog.Point {
    guard let reading else { return .init(number: 0, stamp: 0) }
    defer { reading.rewind() }
    guard try reading.step() else { return .init(number: 0, stamp: 0) }
    return .init(number: reading.integer(0), stamp: reading.integer(1))
  }

  /// What the open transaction has changed so far.
  var changes = ChangeList()
  /// Whether the history should record them.
  var notesChanges = false

  /// The next free row of the last written hierarchies, by their roots. `RecordStore` forgets them when other processes
  /// may have written.
  var nextRows: [Int: Int64] = [:]

  /// Whether new rows and pairs get numbers that no primary key of another store stands for.
  var numbersRowsByKey = false

  /// When the file is marked again as lacking its log.
  var logMark = LogMark()

  /// What the last snapshot of a reader had, as far as it is known to be of no transaction that was under way.
  var lastSnapshot: LastSnapshot?

  struct LastSnapshot {
    var number: Int64
    var version: UInt32
    var quietCount: UInt64
    /// Whether another program may have made a change before it that no snapshot of this connection shows.
    var isDoubtful: Bool
  }

  /// Writes the row of the commit that is about to be made.
  ///
  /// - Parameter changes: What the history has of it; without it the row only counts the commit, and replaces one
  ///   that does no more.
  func write(_ commit: CommitLog.Point, _ changes: String?, by author: String?) throws {
    guard let changes else {
      try run(CommitRow.renumbering, [.integer(commit.number), .integer(commit.stamp)])
      if changedRows > 0 { return }
      return try run(CommitRow.counting, [.integer(commit.number), .integer(commit.stamp)])
    }
    // A statement that could not be prepared is prepared again, for its error.
    let statement = try writing ?? SQLiteStatement(CommitRow.insertion, on: database)
    statement.bind(commit.number, at: 1)
    statement.bind(commit.stamp, at: 2)
    statement.bind(author.map { .text($0) } ?? .null, at: 3)
    statement.bind(.text(ProgramName.current), at: 4)
    statement.bind(Int64(getpid()), at: 5)
    statement.bind(.text(changes), at: 6)
    try statement.run()
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

  func statement(_ sql: String) throws -> SQLiteStatement { try database.statement(sql) }
  func execute(_ sql: String) throws { try database.execute(sql) }
  func run(_ sql: String, _ values: [SQLValue] = []) throws { try database.run(sql, values) }
  func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
    try database.rows(sql, values)
  }
  func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64? {
    try database.integer(sql, values)
  }
  /// ``SQLiteConnection/hasMoved``
  var hasMoved: Bool { database.hasMoved }
  /// ``SQLiteConnection/number(inFileAt:)``
  func number(inFileAt offset: Int64) -> UInt32? { database.number(inFileAt: offset) }
  /// ``SQLiteConnection/checkpoint(_:patience:)``
  func checkpoint(_ kind: SQLiteConnection.Checkpoint, patience: Int32) throws -> Bool {
    try database.checkpoint(kind, patience: patience)
  }
  /// ``SQLiteConnection/useLog(pause:)``
  func useLog() throws -> Bool { try database.useLog() }
  /// ``SQLiteConnection/keepLog()``
  func keepLog() { database.keepLog() }
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
  var changedRows: Int { database.changedRows }
  var isInTransaction: Bool { database.isInTransaction }
  func setsOffTriggers(_ isOn: Bool) throws { try database.setsOffTriggers(isOn) }
  private lazy var hasLogIndex =
    !isImmutable && (try? rows("PRAGMA journal_mode").first?.first) == .text("wal")
  /// ``SQLiteConnection/commitCount``; nil for a file without a log, too.
  var commitCount: UInt32? { hasLogIndex ? database.commitCount : nil }
  /// ``SQLiteConnection/writtenPages``
  var writtenPages: Int32 { database.writtenPages }
  /// ``SQLiteConnection/dataVersion``
  var dataVersion: UInt32 { database.dataVersion }
}

/// The row that each transaction which writes objects adds to the history, in the same transaction; by its
/// number a reader knows which commits its snapshot has.
private enum CommitRow {
  static let selection = "SELECT number, stamp FROM stead_history ORDER BY number DESC LIMIT 1"
  static let insertion = "INSERT INTO stead_history VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
  static let counting = "INSERT INTO stead_history (number, stamp) VALUES (?1, ?2)"
  static let renumbering =
    "UPDATE stead_history SET number = ?1, stamp = ?2 WHERE number = ?1 - 1 AND changes IS NULL"
}
