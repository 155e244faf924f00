import Foundation
import SteadSQLite

/// A SQLite database of another program, opened to be read; used by one thread at a time.
///
/// SQLite may write next to the file, and may write its log into it. So it gets a copy.
final class ForeignStore {
  private let connection: SQLiteConnection

  /// Opens a copy, log included, and looks through its pages.
  ///
  /// Costs a read of the whole file. Throws ``SQLiteError`` if it isn't a database, or is damaged.
  init(copy url: URL) throws {
    var options = SQLiteOptions(.file(url.path))
    // The other program's views read its tables, and nothing else.
    options.readsViews = true
    connection = try SQLiteConnection(options)
    // The log is read in by the first look at the tables, which is the last that may write.
    _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
    try connection.execute("PRAGMA query_only = ON")
    guard try rows("PRAGMA quick_check(1)").first?.first == .text("ok") else {
      throw SQLiteError.damaged("its pages do not fit")
    }
  }

  /// All rows of a statement. A string that isn't UTF-8 becomes a blob of its bytes.
  func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
    var result: [[SQLValue]] = []
    try forEachRow(sql, values) { result.append($0) }
    return result
  }

  /// Hands over one row of a statement after the other.
  func forEachRow(
    _ sql: String, _ values: [SQLValue] = [], _ body: ([SQLValue]) throws -> Void
  ) throws {
    let statement = try connection.statement(sql)
    statement.reset()
    defer { statement.reset() }
    statement.bind(values)
    let count = statement.columnCount
    while try statement.step() { try body((0..<count).map { Self.value(statement, $0) }) }
  }

  private static func value(_ statement: SQLiteStatement, _ column: Int32) -> SQLValue {
    guard statement.isText(column) else { return statement.value(column) }
    return statement.validText(column).map { .text($0) } ?? .blob(statement.data(column))
  }
}
