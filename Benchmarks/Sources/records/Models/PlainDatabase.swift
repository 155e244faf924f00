import GRDBSQLite

struct SQLiteError: Error {
  let code: Int32
  let message: String
}

/// SQLite's C interface, as little wrapped as code that is read by people allows.
final class PlainDatabase {
  let handle: OpaquePointer

  init(_ path: String) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard let handle, code == SQLITE_OK else { throw SQLiteError(code: code, message: path) }
    self.handle = handle
    // What Stead sets, too.
    try execute("PRAGMA journal_mode = WAL")
    try execute("PRAGMA synchronous = NORMAL")
    try execute("PRAGMA cache_size = -16000")
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ sql: String) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw error(code) }
  }

  func prepare(_ sql: String) throws -> PlainStatement { try PlainStatement(sql, self) }

  func transaction(_ body: () throws -> Void) throws {
    try execute("BEGIN IMMEDIATE")
    try body()
    try execute("COMMIT")
  }

  func error(_ code: Int32) -> SQLiteError {
    SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)))
  }
}

/// A prepared statement.
final class PlainStatement {
  private let pointer: OpaquePointer
  private let database: PlainDatabase
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  init(_ sql: String, _ database: PlainDatabase) throws {
    self.database = database
    var pointer: OpaquePointer?
    let code = sqlite3_prepare_v2(database.handle, sql, -1, &pointer, nil)
    guard let pointer, code == SQLITE_OK else { throw database.error(code) }
    self.pointer = pointer
  }

  deinit { sqlite3_finalize(pointer) }

  func step() throws -> Bool {
    let code = sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw database.error(code)
  }

  func reset() { sqlite3_reset(pointer) }

  /// Runs a statement without results, and makes it ready for the next time.
  func run() throws {
    _ = try step()
    reset()
  }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }
  func real(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }
  func text(_ column: Int32) -> String {
    guard let text = sqlite3_column_text(pointer, column) else { return "" }
    let count = Int(sqlite3_column_bytes(pointer, column))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  func bind(_ value: Int64, _ parameter: Int32) { sqlite3_bind_int64(pointer, parameter, value) }
  func bind(_ value: Double, _ parameter: Int32) { sqlite3_bind_double(pointer, parameter, value) }
  func bindNull(_ parameter: Int32) { sqlite3_bind_null(pointer, parameter) }
  func bind(_ value: String, _ parameter: Int32) {
    var value = value
    value.withUTF8 { text in
      _ = text.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(pointer, parameter, $0.baseAddress, Int32($0.count), Self.transient)
      }
    }
  }
}
