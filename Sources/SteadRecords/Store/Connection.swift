import Foundation
import GRDBSQLite

/// A prepared statement, finalized with its last reference.
final class Statement {
  let pointer: OpaquePointer
  private unowned(unsafe) let connection: Connection

  init(_ sql: String, on connection: Connection) throws {
    self.connection = connection
    var pointer: OpaquePointer?
    let code = sqlite3_prepare_v3(
      connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    guard code == SQLITE_OK, let pointer else { throw connection.error(code, sql) }
    self.pointer = pointer
  }

  deinit { sqlite3_finalize(pointer) }

  /// Makes the statement ready to run again, without parameters.
  func reset() {
    sqlite3_reset(pointer)
    sqlite3_clear_bindings(pointer)
  }

  /// Makes the statement ready to run again with parameters that are all bound anew.
  func rewind() { sqlite3_reset(pointer) }

  /// Whether there is a row.
  func step() throws -> Bool {
    let code = sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw connection.error(code, sqlite3_sql(pointer).map { String(cString: $0) } ?? "")
  }

  /// Runs a statement that gives no rows.
  func run() throws {
    defer { sqlite3_reset(pointer) }
    _ = try step()
  }

  func bind(_ value: Int64, at parameter: Int32) { sqlite3_bind_int64(pointer, parameter, value) }

  func bind(_ value: SQLValue, at parameter: Int32) {
    switch value {
    case .null: sqlite3_bind_null(pointer, parameter)
    case .integer(let value): sqlite3_bind_int64(pointer, parameter, value)
    case .real(let value): sqlite3_bind_double(pointer, parameter, value)
    case .text(var value):
      value.withUTF8 {
        _ = $0.withMemoryRebound(to: CChar.self) {
          sqlite3_bind_text(
            pointer, parameter, $0.baseAddress, Int32($0.count), _RowWriter.copying)
        }
      }
    case .blob(let value):
      value.withUnsafeBytes {
        _ =
          $0.isEmpty
          ? sqlite3_bind_zeroblob(pointer, parameter, 0)
          : sqlite3_bind_blob64(
            pointer, parameter, $0.baseAddress, UInt64($0.count), _RowWriter.copying)
      }
    }
  }

  func bind(_ values: [SQLValue]) {
    for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1)) }
  }

  var columnCount: Int32 { sqlite3_column_count(pointer) }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

  func text(_ column: Int32) -> String {
    guard let text = sqlite3_column_text(pointer, column) else { return "" }
    let count = Int(sqlite3_column_bytes(pointer, column))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  func value(_ column: Int32) -> SQLValue {
    switch sqlite3_column_type(pointer, column) {
    case SQLITE_INTEGER: return .integer(integer(column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(pointer, column))
    case SQLITE_TEXT: return .text(text(column))
    case SQLITE_BLOB:
      let count = Int(sqlite3_column_bytes(pointer, column))
      return .blob(
        sqlite3_column_blob(pointer, column).map { Data(bytes: $0, count: count) } ?? Data())
    default: return .null
    }
  }
}

/// One SQLite connection and its prepared statements; used by one thread at a time.
final class Connection: @unchecked Sendable {
  // Sendable: `RecordStore` hands a connection to one thread at a time, under a lock or out of a pool.
  let handle: OpaquePointer
  /// Keeps the library object that opened the connection, and closes it with the last reference.
  private let owner: AnyObject
  private var statements: [String: Statement] = [:]
  /// The statements that select one row, by entity.
  private var selections: [Statement?] = []
  /// The most statements kept prepared; beyond it all are dropped, since a program that makes more
  /// SQL texts than this makes them from values.
  static let statementLimit = 512
  /// The state of the snapshot that a reader keeps open between look-ups.
  var snapshot: Snapshot?

  struct Snapshot {
    /// The number of the last commit that it has.
    let number: Int64
    let openedAt: UInt64
  }

  init(handle: OpaquePointer, owner: AnyObject) {
    self.handle = handle
    self.owner = owner
  }

  deinit {
    statements.removeAll()
    selections.removeAll()
  }

  // Statements of every transaction have fields of their own, so that no text is hashed for them.
  private lazy var beginning = try? Statement("BEGIN", on: self)
  private lazy var immediateBeginning = try? Statement("BEGIN IMMEDIATE", on: self)
  private lazy var committing = try? Statement("COMMIT", on: self)
  private lazy var reading = try? Statement(CommitNumber.selection, on: self)
  private lazy var numbering = try? Statement(CommitNumber.assignment, on: self)

  func begin() throws { try run(beginning, "BEGIN") }

  func beginImmediate() throws { try run(immediateBeginning, "BEGIN IMMEDIATE") }

  func commit() throws { try run(committing, "COMMIT") }

  private func run(_ statement: Statement?, _ sql: String) throws {
    guard let statement else { return try execute(sql) }
    try statement.run()
  }

  /// The number of the last commit that the connection sees; 0 in a store that never had one.
  func commitNumber() throws -> Int64 {
    guard let reading else { return 0 }
    defer { reading.rewind() }
    return try reading.step() ? reading.integer(0) : 0
  }

  /// A number that changes when another connection has changed the file, or this one itself.
  ///
  /// Says so of the snapshot that is open; costs no statement.
  var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// The next free row of the hierarchies that were written last, by their roots. `RecordStore` forgets
  /// them when others may have written.
  var nextRows: [Int: Int64] = [:]

  /// What the last snapshot of a reader had.
  var lastSnapshot: (number: Int64, version: UInt32)?

  /// Gives the commit that is about to be made its number.
  func setCommitNumber(_ number: Int64) throws {
    guard let numbering else { throw error(SQLITE_ERROR, CommitNumber.assignment) }
    numbering.bind(number, at: 1)
    try numbering.run()
  }

  func statement(_ sql: String) throws -> Statement {
    if let statement = statements[sql] { return statement }
    if statements.count >= Self.statementLimit { statements.removeAll() }
    let statement = try Statement(sql, on: self)
    statements[sql] = statement
    return statement
  }

  /// The statement that selects one row of an entity by its number; found without hashing its text.
  ///
  /// It is always left rewound.
  func selection(of plan: EntityPlan) throws -> Statement {
    let index = plan.entity.index
    if index < selections.count, let statement = selections[index] { return statement }
    while selections.count <= index { selections.append(nil) }
    let statement = try Statement(plan.selectByID, on: self)
    selections[index] = statement
    return statement
  }

  /// Runs SQL without parameters and results.
  func execute(_ sql: String) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw error(code, sql) }
  }

  /// Runs one of the connection's prepared statements for its effect.
  func run(_ sql: String, _ values: [SQLValue] = []) throws {
    let statement = try statement(sql)
    statement.reset()
    statement.bind(values)
    try statement.run()
  }

  /// All rows of a statement.
  func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
    let statement = try statement(sql)
    statement.reset()
    defer { statement.reset() }
    statement.bind(values)
    let count = statement.columnCount
    var result: [[SQLValue]] = []
    while try statement.step() { result.append((0..<count).map { statement.value($0) }) }
    return result
  }

  func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64? {
    let statement = try statement(sql)
    statement.reset()
    defer { statement.reset() }
    statement.bind(values)
    return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
  }

  /// The number of rows that the last statement changed.
  var changedRows: Int { Int(sqlite3_changes(handle)) }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  func error(_ code: Int32, _ sql: String) -> SwiftDataError {
    StoreErrors.error(
      code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)),
      sql: sql)
  }
}

/// SQLite's errors in words that say what to do.
enum StoreErrors {
  static func error(code: Int32, message: String, sql: String) -> SwiftDataError {
    switch code & 0xff {
    case SQLITE_FULL:
      .init(
        .storageFull,
        "The disk is full. Nothing was saved and the changes are still pending; free some space "
          + "and save again.")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      .init(
        .unreadableStore,
        "The file is not a store, or is damaged (\(message)). It was left untouched; open a "
          + "backup, or move the file away to start afresh.")
    case SQLITE_BUSY, SQLITE_LOCKED:
      .init(
        .storeLocked,
        "Another process has kept the store locked for \(RecordStore.lockPatience) seconds. "
          + "Find out what holds it, then try again.")
    case SQLITE_READONLY:
      .init(
        .readOnlyStore,
        "The store is read-only. Check the file's permissions, or open it with allowsSave: false.")
    case SQLITE_CANTOPEN:
      .init(
        .unreadableStore,
        "The store cannot be opened (\(message)). Check that its directory exists and is writable.")
    case SQLITE_IOERR:
      .init(
        .storageFailure,
        "The disk failed (\(message)). Nothing was saved and the changes are still pending.")
    case SQLITE_CONSTRAINT:
      .init(.modelValidationFailure, "The store refused a row: \(message).")
    default:
      .init(.storeFailure, "SQLite error \(code): \(message), in: \(sql)")
    }
  }
}
