import Foundation
import GRDB
import GRDBSQLite

/// A SQLite database of another program, opened to be read; used by one thread at a time.
///
/// SQLite may write beside the file, and into it what its log still holds. So it is given a copy.
package final class ForeignStore {
  private let connection: Connection

  /// Opens a copy, log included, and looks through its pages.
  ///
  /// Costs a reading of the whole file. Throws `SwiftDataError` for what is no database, or damaged.
  package init(copy url: URL) throws {
    do {
      connection = try Self.open(url.path)
    } catch let error as DatabaseError {
      throw StoreErrors.error(
        code: error.extendedResultCode.rawValue, message: error.message ?? "", sql: "open")
    }
    guard try rows("PRAGMA quick_check(1)").first?.first == .text("ok") else {
      throw StoreErrors.error(code: SQLITE_CORRUPT, message: "its pages do not fit", sql: "")
    }
  }

  private static func open(_ path: String) throws -> Connection {
    var setup = Configuration()
    setup.foreignKeysEnabled = false
    setup.maximumReaderCount = 1
    setup.prepareDatabase { database in
      // Views, triggers and defaults come with the file, and are not to call anything.
      try database.execute(sql: "PRAGMA trusted_schema = OFF")
      try database.execute(sql: "PRAGMA cell_size_check = ON")
    }
    let queue = try DatabaseQueue(path: path, configuration: setup)
    let handle = try queue.writeWithoutTransaction { database in
      // The log is read in by the first look at the tables, which is the last that may write.
      _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema")
      try database.execute(sql: "PRAGMA query_only = ON")
      return database.sqliteConnection
    }
    guard let handle else {
      throw SwiftDataError(.storeFailure, "The store was closed while it was being opened.")
    }
    return Connection(handle: handle, owner: queue)
  }

  /// All rows of a statement. Text that is no UTF-8 comes as a blob of its bytes.
  package func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
    var result: [[SQLValue]] = []
    try forEachRow(sql, values) { result.append($0) }
    return result
  }

  /// Hands over one row of a statement after the other.
  package func forEachRow(
    _ sql: String, _ values: [SQLValue] = [], _ body: ([SQLValue]) throws -> Void
  ) throws {
    let statement = try connection.statement(sql)
    statement.reset()
    defer { statement.reset() }
    statement.bind(values)
    let count = sqlite3_column_count(statement.pointer)
    while try statement.step() {
      try body((0..<count).map { Self.value(statement, $0) })
    }
  }

  private static func value(_ statement: Statement, _ column: Int32) -> SQLValue {
    guard sqlite3_column_type(statement.pointer, column) == SQLITE_TEXT,
      let start = sqlite3_column_text(statement.pointer, column)
    else { return statement.value(column) }
    let count = Int(sqlite3_column_bytes(statement.pointer, column))
    let bytes = UnsafeBufferPointer(start: start, count: count)
    return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .blob(Data(bytes))
  }
}
