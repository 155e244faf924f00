import CSteadSQLite
import Foundation

/// A prepared statement, finalized with its last reference; used by one thread at a time.
///
/// ```swift
/// let statement = try connection.statement("SELECT name FROM item WHERE size > ?1")
/// statement.reset()
/// defer { statement.reset() }
/// statement.bind(.integer(size), at: 1)
/// while try statement.step() { names.append(statement.text(0)) }
/// ```
package final class SQLiteStatement {
  /// SQLite's `sqlite3_stmt`, for code that is inlined into an app's models.
  @usableFromInline package let pointer: OpaquePointer
  // Not checked: the connection outlives its statements, as `init` asks.
  private unowned(unsafe) let connection: SQLiteConnection

  /// Prepares a statement that runs repeatedly. Only the first statement of the SQL counts.
  ///
  /// The connection must outlive it.
  ///
  /// - Throws: What the connection's `failure` returns, for SQL that isn't valid or doesn't fit the file's tables.
  package init(_ sql: String, on connection: SQLiteConnection) throws {
    self.connection = connection
    var pointer: OpaquePointer?
    // PERSISTENT: it does not take the connection's lookaside memory, which is for
    // short-lived ones.
    let code = sqlite3_prepare_v3(
      connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    guard code == SQLITE_OK, let pointer else { throw connection.error(sql) }
    self.pointer = pointer
  }

  deinit { sqlite3_finalize(pointer) }

  /// How often SQLite has compiled the statement again since it was made, because the tables had changed.
  package var compilationCount: Int32 {
    sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
  }

  // MARK: Running

  /// Makes the statement ready to run again, without parameters.
  @inlinable package func reset() {
    // Its result is the error of the last step, which was thrown then.
    sqlite3_reset(pointer)
    sqlite3_clear_bindings(pointer)
  }

  /// Makes the statement ready to run again; the caller binds all parameters again.
  @inlinable package func rewind() { sqlite3_reset(pointer) }

  /// Moves to the next row, and returns whether there is one. What a row's columns return is valid until the next
  /// step.
  ///
  /// - Throws: What the connection's `failure` returns, such as for a lock that another connection has kept for
  ///   longer than the connection waits.
  @inlinable package func step() throws -> Bool {
    let code = sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw failure()
  }

  @usableFromInline func failure() -> any Error {
    connection.error(sqlite3_sql(pointer).map { String(cString: $0) } ?? "")
  }

  /// Runs a statement that returns no rows.
  @inlinable package func run() throws {
    // A statement that stopped at a row, or at an error, would otherwise keep its transaction open.
    defer { sqlite3_reset(pointer) }
    _ = try step()
  }

  // MARK: Parameters, counted from 1

  /// Binds a whole number to a parameter.
  @inlinable package func bind(_ value: Int64, at parameter: Int32) {
    sqlite3_bind_int64(pointer, parameter, value)
  }

  /// Binds a value to a parameter, and copies it. A text must have less than 2 GiB.
  package func bind(_ value: SQLValue, at parameter: Int32) {
    switch value {
    case .null: sqlite3_bind_null(pointer, parameter)
    case .integer(let value): sqlite3_bind_int64(pointer, parameter, value)
    case .real(let value): sqlite3_bind_double(pointer, parameter, value)
    // `var`, since `withUTF8` may have to make the string contiguous.
    case .text(var value):
      value.withUTF8 {
        _ = $0.withMemoryRebound(to: CChar.self) {
          sqlite3_bind_text(pointer, parameter, $0.baseAddress, Int32($0.count), Self.copying)
        }
      }
    case .blob(let value):
      value.withUnsafeBytes {
        _ =
          $0.isEmpty
          // A null pointer, which an empty buffer may have, would bind NULL.
          ? sqlite3_bind_zeroblob(pointer, parameter, 0)
          : sqlite3_bind_blob64(
            pointer, parameter, $0.baseAddress, UInt64($0.count), Self.copying)
      }
    }
  }

  /// Binds values to the parameters from 1 on. Parameters without a value stay NULL, or as ``rewind()`` left them.
  package func bind(_ values: [SQLValue]) {
    for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1)) }
  }

  /// `SQLITE_TRANSIENT`: SQLite copies its argument before the call returns.
  package static let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  // MARK: Columns, counted from 0

  /// The number of the result's columns; 0 for a statement without one.
  @inlinable package var columnCount: Int32 { sqlite3_column_count(pointer) }

  /// The column as a whole number, by SQLite's rules of conversion: 0 for NULL.
  @inlinable package func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(pointer, column)
  }

  /// Whether the column is NULL. Ask before another function reads the column, which may convert it.
  @inlinable package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(pointer, column) == SQLITE_NULL
  }

  /// Whether the column is stored as text.
  package func isText(_ column: Int32) -> Bool {
    sqlite3_column_type(pointer, column) == SQLITE_TEXT
  }

  /// The column as a string; invalid UTF-8 in it is repaired.
  package func text(_ column: Int32) -> String {
    String(decoding: bytes(sqlite3_column_text(pointer, column), column), as: UTF8.self)
  }

  /// Calls a closure with the column's UTF-8, which is valid only during the call.
  package func withText<Result>(
    _ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    try body(bytes(sqlite3_column_text(pointer, column), column))
  }

  /// The column's string; nil when it isn't text, or isn't valid UTF-8, which SQLite doesn't check.
  package func validText(_ column: Int32) -> String? {
    guard isText(column) else { return nil }
    return String(validating: bytes(sqlite3_column_text(pointer, column), column), as: UTF8.self)
  }

  /// The column's bytes, whatever their type.
  package func data(_ column: Int32) -> Data {
    // NULL for a column without bytes, too.
    guard let start = sqlite3_column_blob(pointer, column) else { return Data() }
    return Data(bytes: start, count: Int(sqlite3_column_bytes(pointer, column)))
  }

  /// The column with the type that it is stored with, copied.
  package func value(_ column: Int32) -> SQLValue {
    switch sqlite3_column_type(pointer, column) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(sqlite3_column_double(pointer, column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(data(column))
    default: .null
    }
  }

  /// The bytes of a column that was just read in some form; their number is that of this form.
  private func bytes(
    _ start: UnsafePointer<UInt8>?, _ column: Int32
  ) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(pointer, column)))
  }
}
