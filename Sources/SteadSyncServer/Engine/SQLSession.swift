#if Server
import Foundation
import SteadSQLite

/// A connection to a database, used by one thread.
///
/// Statements are written for both engines: parameters are `$1`, `$2` in the order of their first use, and the types
/// are `BIGINT`, `TEXT` and `BYTEA`, which SQLite also accepts. They use no sequences, advisory locks, notifications
/// or transaction numbers, so they run on every engine with PostgreSQL's protocol.
protocol SQLSession: AnyObject {
  /// Runs a statement and returns its rows, all at once in memory. Equal SQL is prepared once. Throws
  /// ``EngineError``.
  func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow]

  /// Runs a statement and returns the number of changed rows. Equal SQL is prepared once. Throws ``EngineError``.
  @discardableResult
  func change(_ sql: String, _ values: [SQLValue]) throws -> Int

  /// Runs statements without parameters. They aren't prepared. Throws ``EngineError``.
  func execute(_ sql: String) throws

  /// Begins a transaction that writes. SQLite takes its write lock at once; PostgreSQL takes row locks as they are
  /// needed.
  func beginWriting() throws

  /// Begins a transaction that sees one state of the database until its end.
  func beginReading() throws

  /// Whether a transaction is open. A failure may have ended it.
  var isInTransaction: Bool { get }

  /// Whether the connection can no longer be used. Its worker then makes another one before the next job.
  var isBroken: Bool { get }
}

extension SQLSession {
  /// The first row of a statement's result; nil if there is none.
  func row(_ sql: String, _ values: [SQLValue] = []) throws -> SQLRow? {
    try rows(sql, values).first
  }

  /// Ends a transaction after a failure. An error of the roll-back is ignored: the transaction then ends with the
  /// connection.
  func rollBack() {
    if isInTransaction { try? execute("ROLLBACK") }
  }
}

/// A statement that returns no rows, with the values of its parameters.
struct SQLStatement: Sendable {
  /// SQL with the parameters `$1`, `$2`.
  let text: String
  /// The values of the parameters, in their order.
  let values: [SQLValue]

  init(_ text: String, _ values: [SQLValue]) {
    self.text = text
    self.values = values
  }
}

extension SQLSession {
  /// Runs statements in their order.
  func run(_ statements: [SQLStatement]) throws {
    for statement in statements { try change(statement.text, statement.values) }
  }
}

extension SQLValue {
  /// NULL for nil.
  init(_ value: Int64?) { self = value.map(SQLValue.integer) ?? .null }
  /// NULL for nil.
  init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }

  /// A value for a column of the type BYTEA.
  static func bytes(_ value: [UInt8]) -> SQLValue { .blob(Data(value)) }
}

/// A row of a statement's result. Its accessors throw ``EngineError/unexpectedType`` if the column has a value of
/// another type, which no table of this version of the server has.
struct SQLRow: Hashable, Sendable {
  /// The values of the columns, in the order of the query.
  let values: [SQLValue]

  /// A number. Throws for NULL, too.
  func integer(_ column: Int) throws -> Int64 {
    guard case .integer(let value) = values[column] else { throw EngineError.unexpectedType }
    return value
  }

  /// A string. Throws for NULL, too.
  func text(_ column: Int) throws -> String {
    guard case .text(let value) = values[column] else { throw EngineError.unexpectedType }
    return value
  }

  /// Bytes. Throws for NULL, too.
  func bytes(_ column: Int) throws -> [UInt8] {
    guard case .blob(let value) = values[column] else { throw EngineError.unexpectedType }
    return [UInt8](value)
  }

  /// A string, or nil for NULL.
  func optionalText(_ column: Int) throws -> String? {
    values[column] == .null ? nil : try text(column)
  }

  /// Bytes, or nil for NULL.
  func optionalBytes(_ column: Int) throws -> [UInt8]? {
    values[column] == .null ? nil : try bytes(column)
  }
}

/// Statements over many rows at once. They have three sizes, so that few statements are prepared and 100 rows cost
/// one round trip to the database.
///
/// The greatest statement of the server has 700 parameters, those of 100 records; PostgreSQL allows 65,535, and
/// SQLite 32,766 since version 3.32.
enum RowBatch {
  /// The numbers of rows of one statement, the greatest first.
  static let sizes = [100, 10, 1]

  /// Divides rows into parts for which a statement exists, in their order: as many of each size as fit, the greatest
  /// first.
  static func parts<Row>(_ rows: [Row]) -> [ArraySlice<Row>] {
    var (parts, start) = ([ArraySlice<Row>](), 0)
    while start < rows.count {
      // 1 always fits, so the loop ends.
      let size = sizes.first { $0 <= rows.count - start } ?? 1
      parts.append(rows[start..<(start + size)])
      start += size
    }
    return parts
  }

  /// Inserts rows of a table.
  struct Insert: Sendable {
    private let texts: [Int: String]

    /// - Parameter conflict: The clause after the values, as in `ON CONFLICT (zone, id) DO NOTHING`.
    init(into table: String, _ columns: [String], _ conflict: String) {
      texts = RowBatch.texts { size in
        let rows = (0..<size).map { row in
          "("
            + (1...columns.count).map { "$\(row * columns.count + $0)" }.joined(separator: ", ")
            + ")"
        }
        return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES "
          + "\(rows.joined(separator: ", ")) \(conflict)"
      }
    }

    /// The statements that insert rows. No two rows may have the same key: PostgreSQL refuses `ON CONFLICT DO UPDATE`
    /// that changes a row twice in one statement.
    func statements(_ rows: [[SQLValue]]) -> [SQLStatement] {
      RowBatch.parts(rows).compactMap { part in
        texts[part.count].map { SQLStatement($0, part.flatMap { $0 }) }
      }
    }
  }

  /// A query about rows of one zone whose key is in a list: `$1` is the zone, and the list replaces `%`.
  struct Keyed: Sendable {
    private let texts: [Int: String]

    init(_ text: String) {
      texts = RowBatch.texts { size in
        // The keys begin at `$2`, after the zone.
        let list = (2...(size + 1)).map { "$\($0)" }.joined(separator: ", ")
        return text.replacing("%", with: "(\(list))")
      }
    }

    /// The rows with the keys, in no particular order. Costs a statement for each part of the keys.
    func rows(_ zone: SQLValue, _ keys: [SQLValue], in session: any SQLSession) throws -> [SQLRow] {
      try RowBatch.parts(keys).flatMap { part in
        try texts[part.count].map { try session.rows($0, [zone] + part) } ?? []
      }
    }
  }

  /// A statement for each size.
  private static func texts(_ text: (Int) -> String) -> [Int: String] {
    Dictionary(uniqueKeysWithValues: sizes.map { ($0, text($0)) })
  }
}

// MARK: - SQLite

/// A connection to a SQLite file in WAL mode with `synchronous = FULL`: a commit is on the disk when it returns.
///
/// In WAL mode readers and the writer don't block each other, so reads go on during a commit. Used by one thread.
final class SQLiteSession: SQLSession {
  /// Milliseconds to wait for another process, such as `stead serve invite`.
  static let busyTimeout: Int32 = 10_000
  /// The size of the page cache, in KiB.
  private static let cacheSize = 65_536

  private let connection: SQLiteConnection
  private(set) var isBroken = false

  /// Opens a file; a writing session makes it if it doesn't exist.
  ///
  /// - Throws: ``EngineError`` with the code `storage` if it can't be opened, and otherwise as for a statement.
  init(path: String, writes: Bool) throws {
    var options = SQLiteOptions(.file(path))
    options.makesFile = writes
    options.busyTimeout = Self.busyTimeout
    options.cacheSize = Self.cacheSize
    do {
      connection = try SQLiteConnection(options)
      _ = try connection.useLog()
      // With NORMAL, SQLite syncs a WAL only at a checkpoint: a loss of power would take acknowledged pushes back,
      // and every device would be told of a rollback.
      try connection.execute("PRAGMA synchronous = FULL")
      // A write by mistake then fails at once, instead of waiting for the writer's lock.
      if !writes { try connection.execute("PRAGMA query_only = 1") }
    } catch let error as SQLiteError {
      throw EngineError(error)
    }
  }

  var isInTransaction: Bool { connection.isInTransaction }

  /// Takes the write lock at once. A deferred transaction that has read couldn't wait for it: SQLite answers
  /// SQLITE_BUSY at once if another connection has written since.
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

  /// Copies the database as one transaction sees it into a file that doesn't exist yet. Writers go on meanwhile.
  /// Costs the time to read and write all of it.
  func copy(to path: String) throws {
    // Copying the files could miss a part of the log, or mix pages of two commits.
    _ = try rows("VACUUM INTO $1", [.text(path)])
  }

  /// A connection whose disk failed, or whose file is damaged, is not used again.
  private func recordingFailure<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      // A lock or a full disk passes. After these two the connection can't be trusted.
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
