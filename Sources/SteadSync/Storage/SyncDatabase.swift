import SteadRecords
import SteadSQLite

/// The database with a zone's tables, within an open transaction: a store of records, or a file of their own.
protocol SyncDatabase: AnyObject {
  /// A prepared statement, reset and without values; the same one for equal SQL.
  func statement(_ sql: String) throws -> SQLiteStatement
  func execute(_ sql: String) throws
  /// The number of rows that the last statement changed.
  var changedRows: Int { get }
}

extension RowTransaction: SyncDatabase {}

extension SyncDatabase {
  func run(_ sql: String, _ values: [SQLValue] = []) throws {
    let statement = try statement(sql)
    statement.bind(values)
    try statement.run()
  }

  /// Calls a body with each row of a statement. The body must not run the same statement.
  func forEach(
    _ sql: String, _ values: [SQLValue] = [], _ body: (SQLiteStatement) throws -> Void
  ) throws {
    let statement = try statement(sql)
    defer { statement.reset() }
    statement.bind(values)
    while try statement.step() { try body(statement) }
  }

  /// The first column of the first row as a string; nil for NULL, and if there are no rows.
  func text(_ sql: String, _ values: [SQLValue] = []) throws -> String? {
    let statement = try statement(sql)
    defer { statement.reset() }
    statement.bind(values)
    return try statement.step() && !statement.isNull(0) ? statement.text(0) : nil
  }

  /// The first column of the first row as a number; nil for NULL, and if there are no rows.
  func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64? {
    let statement = try statement(sql)
    defer { statement.reset() }
    statement.bind(values)
    return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
  }

  func texts(_ sql: String, _ values: [SQLValue] = []) throws -> [String] {
    var texts: [String] = []
    try forEach(sql, values) { texts.append($0.text(0)) }
    return texts
  }
}
