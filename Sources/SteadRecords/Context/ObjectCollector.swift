import SteadSQLite

/// Takes the objects of a result's rows in.
protocol ObjectCollector {
  /// Called for each row before its object exists.
  mutating func beginRow(_ statement: SQLiteStatement)
  mutating func append(_ object: AnyObject)
  /// Puts another object where one is.
  mutating func replace(_ object: AnyObject, with other: AnyObject)
  /// Called instead of `append(_:)` for a row that cannot be read.
  mutating func skipRow(_ error: any Error) throws
}
