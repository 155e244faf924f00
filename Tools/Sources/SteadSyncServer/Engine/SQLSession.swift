/// A connection to a database, used by one thread.
///
/// Statements are written for both engines: parameters are `$1`, `$2` in the order of their first use, and the types
/// are `BIGINT`, `TEXT` and `BYTEA`, which SQLite also accepts. They use no sequences, advisory locks, notifications
/// or transaction numbers, so they run on every engine with PostgreSQL's protocol.
protocol SQLSession: AnyObject {
  /// Runs a statement and returns its rows. Equal SQL is prepared once.
  func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow]

  /// Runs a statement and returns the number of changed rows. Equal SQL is prepared once.
  @discardableResult
  func change(_ sql: String, _ values: [SQLValue]) throws -> Int

  /// Runs statements without parameters.
  func execute(_ sql: String) throws

  /// Begins a transaction that writes.
  func beginWriting() throws

  /// Begins a transaction that sees one state of the database until its end.
  func beginReading() throws

  /// Whether a transaction is open. A failure may have ended it.
  var isInTransaction: Bool { get }

  /// Whether the connection can no longer be used.
  var isBroken: Bool { get }
}

extension SQLSession {
  func row(_ sql: String, _ values: [SQLValue] = []) throws -> SQLRow? {
    try rows(sql, values).first
  }

  /// Ends a transaction after a failure. An error of the roll-back is ignored: the transaction then ends with the
  /// connection.
  func rollBack() {
    if isInTransaction { try? execute("ROLLBACK") }
  }
}
