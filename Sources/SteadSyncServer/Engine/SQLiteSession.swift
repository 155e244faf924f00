#if Server
import SteadSQLite

/// A connection to a SQLite file.
final class SQLiteSession: SQLSession {
  /// Milliseconds to wait for another process, such as `stead serve invite`.
  static let busyTimeout: Int32 = 10_000
  /// The size of the page cache, in KiB.
  private static let cacheSize = 65_536

  private let connection: SQLiteConnection
  private(set) var isBroken = false

  init(path: String, writes: Bool) throws {
    var options = SQLiteOptions(.file(path))
    options.makesFile = writes
    options.lockPatience = Self.busyTimeout
    options.cacheSize = Self.cacheSize
    do {
      connection = try SQLiteConnection(options)
      _ = try connection.useLog()
      try connection.execute("PRAGMA synchronous = FULL")
      if !writes { try connection.execute("PRAGMA query_only = 1") }
    } catch let error as SQLiteError {
      throw EngineError(error)
    }
  }

  var isInTransaction: Bool { connection.isInTransaction }

  func beginWriting() throws { try execute("BEGIN IMMEDIATE") }

  func beginReading() throws { try execute("BEGIN") }

  func execute(_ sql: String) throws {
    try recordingFailure { try connection.execute(sql) }
  }

  func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
    try recordingFailure { try connection.rows(sql, values).map(SQLRow.init) }
  }

  @discardableResult
  func change(_ sql: String, _ values: [SQLValue]) throws -> Int {
    try recordingFailure {
      try connection.run(sql, values)
      return connection.changedRows
    }
  }

  /// Copies the database as one transaction sees it into a file that doesn't exist yet.
  func copy(to path: String) throws {
    _ = try rows("VACUUM INTO $1", [.text(path)])
  }

  /// A connection whose disk failed, or whose file is damaged, is not used again.
  private func recordingFailure<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      if error.kind == .disk || error.kind == .damaged { isBroken = true }
      throw EngineError(error)
    }
  }
}

extension EngineError {
  /// Has the code alone: SQLite's message may quote what a statement was given.
  fileprivate init(_ error: SQLiteError) {
    let code: Code =
      switch error.kind {
      case .locked: .retry
      case .full, .disk, .readOnly, .notOpened: .storage
      default: .other
      }
    self.init(code: code, message: "SQLite failed with code \(error.code).")
  }
}
#endif
