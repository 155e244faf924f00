/// A connection to a database, used by one thread.
///
/// Statements are written for both engines: parameters are `$1`, `$2` in the order of their first use, and the types are
/// `BIGINT`, `TEXT` and `BYTEA`, which SQLite takes for names of its own. No sequences, advisory locks, notifications or
/// transaction numbers: what the statements need, every engine that speaks PostgreSQL's protocol has.
protocol SQLSession: AnyObject {
  /// Runs a statement that is prepared once for each text, and returns its rows.
  func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow]

  /// Runs a statement that is prepared once for each text, and returns how many rows it changed.
  @discardableResult
  func change(_ sql: String, _ values: [SQLValue]) throws -> Int

  /// Runs statements without parameters.
  func execute(_ sql: String) throws

  /// Begins a transaction that writes.
  func beginWriting() throws

  /// Begins a transaction that sees one state of the database throughout.
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

  /// Ends a transaction after a failure. What the roll-back itself says changes nothing: a transaction that it can't end
  /// ends with the connection.
  func rollBack() {
    if isInTransaction { try? execute("ROLLBACK") }
  }
}
