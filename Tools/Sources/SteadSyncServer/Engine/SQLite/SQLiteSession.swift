import CServerSQLite

/// A connection to a SQLite file.
///
/// SteadSQLite does more than this, but its interface is internal to its package.
final class SQLiteSession: SQLSession {
  /// Milliseconds to wait for another process, such as `stead serve invite`.
  static let busyTimeout: Int32 = 10_000

  private var connection: OpaquePointer?
  private var statements: [String: OpaquePointer] = [:]
  private(set) var isBroken = false

  init(path: String, writes: Bool) throws {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (writes ? SQLITE_OPEN_CREATE : 0)
    let status = sqlite3_open_v2(path, &connection, flags, nil)
    guard status == SQLITE_OK else {
      sqlite3_close_v2(connection)
      // All properties have values, so `deinit` runs, too.
      connection = nil
      throw Self.error(status)
    }
    sqlite3_extended_result_codes(connection, 1)
    sqlite3_busy_timeout(connection, Self.busyTimeout)
    try execute("PRAGMA journal_mode = WAL")
    try execute("PRAGMA synchronous = FULL")
    try execute("PRAGMA cache_size = -65536")
    if !writes { try execute("PRAGMA query_only = 1") }
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(connection)
  }

  var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

  func beginWriting() throws { try execute("BEGIN IMMEDIATE") }

  func beginReading() throws { try execute("BEGIN") }

  func execute(_ sql: String) throws {
    try check(sqlite3_exec(connection, sql, nil, nil, nil))
  }

  func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
    let statement = try prepared(sql)
    defer { reset(statement) }
    try bind(values, statement)
    var rows: [SQLRow] = []
    while true {
      let status = sqlite3_step(statement)
      if status == SQLITE_DONE { return rows }
      guard status == SQLITE_ROW else { throw failure(status) }
      rows.append(Self.row(statement))
    }
  }

  @discardableResult
  func change(_ sql: String, _ values: [SQLValue]) throws -> Int {
    _ = try rows(sql, values)
    return Int(sqlite3_changes(connection))
  }

  /// Copies the database as one transaction sees it into a file that doesn't exist yet.
  func copy(to path: String) throws {
    _ = try rows("VACUUM INTO $1", [.text(path)])
  }

  // MARK: Statements

  private func prepared(_ sql: String) throws -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    try check(sqlite3_prepare_v3(connection, sql, -1, flags, &statement, nil))
    guard let statement else { throw failure(SQLITE_MISUSE) }
    statements[sql] = statement
    return statement
  }

  private func reset(_ statement: OpaquePointer) {
    sqlite3_reset(statement)
    sqlite3_clear_bindings(statement)
  }

  private func bind(_ values: [SQLValue], _ statement: OpaquePointer) throws {
    // SQLite copies the bytes.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (offset, value) in values.enumerated() {
      let index = Int32(offset + 1)
      switch value {
      case .null: try check(sqlite3_bind_null(statement, index))
      case .integer(let value): try check(sqlite3_bind_int64(statement, index, value))
      case .text(var value):
        try value.withUTF8 { bytes in
          try bytes.withMemoryRebound(to: CChar.self) { bytes in
            try check(
              sqlite3_bind_text(
                statement, index, bytes.baseAddress ?? empty, Int32(bytes.count), transient))
          }
        }
      case .bytes(let value):
        try value.withUnsafeBytes { bytes in
          // A null address would bind NULL.
          try check(
            bytes.isEmpty
              ? sqlite3_bind_zeroblob(statement, index, 0)
              : sqlite3_bind_blob(
                statement, index, bytes.baseAddress, Int32(bytes.count), transient))
        }
      }
    }
  }

  private static func row(_ statement: OpaquePointer) -> SQLRow {
    SQLRow(
      values: (0..<sqlite3_column_count(statement)).map { column in
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
        case SQLITE_TEXT: .text(String(decoding: bytes(statement, column), as: UTF8.self))
        case SQLITE_BLOB: .bytes(Array(bytes(statement, column)))
        default: .null
        }
      })
  }

  private static func bytes(_ statement: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
    // Also for strings, whose bytes this call returns, too. Only after this call may their number be asked for.
    let start = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
  }

  // MARK: Errors

  private func check(_ status: Int32) throws {
    guard status == SQLITE_OK else { throw failure(status) }
  }

  private func failure(_ status: Int32) -> EngineError {
    let error = Self.error(status)
    if status & 0xff == SQLITE_IOERR || status & 0xff == SQLITE_CORRUPT { isBroken = true }
    return error
  }

  private static func error(_ status: Int32) -> EngineError {
    let code: EngineError.Code
    switch status & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED: code = .retry
    case SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN: code = .storage
    default: code = .other
    }
    let text = String(cString: sqlite3_errstr(status))
    return EngineError(code: code, message: "SQLite failed with code \(status), \(text).")
  }
}

/// An address for empty strings, for which a null address would bind NULL.
nonisolated(unsafe) private let empty: UnsafePointer<CChar> = {
  // Read only, and never freed.
  let pointer = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
  pointer.initialize(to: 0)
  return UnsafePointer(pointer)
}()
