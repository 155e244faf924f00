import SteadSQLite

// Sendable: `RecordStore` uses its writer under a lock alone, and `ReaderPool` lends a reader to one thread at
// a time, so that no two threads use the connection's variables at once.
/// One connection to a store, and what is known of the commit that it sees; used by one thread at a time.
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

  init(_ options: SQLiteOptions) throws { database = try SQLiteConnection(options) }

  // Statements of every transaction have fields of their own, so that no text is hashed for them.
  private lazy var beginning = try? SQLiteStatement("BEGIN", on: database)
  private lazy var immediateBeginning = try? SQLiteStatement("BEGIN IMMEDIATE", on: database)
  private lazy var committing = try? SQLiteStatement("COMMIT", on: database)
  private lazy var reading = try? SQLiteStatement(CommitNumber.selection, on: database)
  private lazy var numbering = try? SQLiteStatement(CommitNumber.assignment, on: database)

  func begin() throws { try run(beginning, "BEGIN") }

  func beginImmediate() throws { try run(immediateBeginning, "BEGIN IMMEDIATE") }

  func commit() throws { try run(committing, "COMMIT") }

  private func run(_ statement: SQLiteStatement?, _ sql: String) throws {
    guard let statement else { return try execute(sql) }
    try statement.run()
  }

  /// The number of the last commit that the connection sees; 0 in a store that never had one.
  func commitNumber() throws -> Int64 {
    guard let reading else { return 0 }
    defer { reading.rewind() }
    return try reading.step() ? reading.integer(0) : 0
  }

  /// The next free row of the hierarchies that were written last, by their roots. `RecordStore` forgets
  /// them when others may have written.
  var nextRows: [Int: Int64] = [:]

  /// What the last snapshot of a reader had.
  var lastSnapshot: (number: Int64, version: UInt32)?

  /// Gives the commit that is about to be made its number.
  func setCommitNumber(_ number: Int64) throws {
    // A statement that could not be prepared is prepared again, for its error.
    let statement = try numbering ?? SQLiteStatement(CommitNumber.assignment, on: database)
    statement.bind(number, at: 1)
    try statement.run()
  }

  /// The statement that selects one row of an entity by its number; found without hashing its text.
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

  /// A statement of the caller's own, which must not outlive the connection.
  func prepare(_ sql: String) throws -> SQLiteStatement { try SQLiteStatement(sql, on: database) }

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
  /// ``SQLiteConnection/keepLog()``
  func keepLog() { database.keepLog() }
  func copy(to path: String) throws { try database.copy(to: path) }
  var changedRows: Int { database.changedRows }
  var isInTransaction: Bool { database.isInTransaction }
  /// ``SQLiteConnection/dataVersion``
  var dataVersion: UInt32 { database.dataVersion }
}

/// The number that each transaction which writes objects increments, in the same transaction.
private enum CommitNumber {
  static let selection = "SELECT number FROM stead_commit"
  // Not `number + 1 RETURNING number`: what returns rows keeps them in a table of its own, which takes longer
  // to make than the row of a save takes to write.
  static let assignment = "UPDATE stead_commit SET number = ?1"
}
