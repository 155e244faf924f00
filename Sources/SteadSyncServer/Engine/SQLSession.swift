#if Server
import Foundation
import SteadSQLite

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

/// A statement that returns no rows, with the values of its parameters.
struct SQLStatement: Sendable {
  let text: String
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
  init(_ value: Int64?) { self = value.map(SQLValue.integer) ?? .null }
  init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }

  static func bytes(_ value: [UInt8]) -> SQLValue { .blob(Data(value)) }
}

/// A row of a statement's result.
struct SQLRow: Hashable, Sendable {
  let values: [SQLValue]

  func integer(_ column: Int) throws -> Int64 {
    guard case .integer(let value) = values[column] else { throw EngineError.unexpectedType }
    return value
  }

  func text(_ column: Int) throws -> String {
    guard case .text(let value) = values[column] else { throw EngineError.unexpectedType }
    return value
  }

  func bytes(_ column: Int) throws -> [UInt8] {
    guard case .blob(let value) = values[column] else { throw EngineError.unexpectedType }
    return [UInt8](value)
  }

  func optionalText(_ column: Int) throws -> String? {
    values[column] == .null ? nil : try text(column)
  }

  func optionalBytes(_ column: Int) throws -> [UInt8]? {
    values[column] == .null ? nil : try bytes(column)
  }
}

/// Statements over many rows at once. They have three sizes, so that few statements are prepared and 100 rows cost
/// one round trip to the database.
enum RowBatch {
  /// The numbers of rows of one statement, the greatest first.
  static let sizes = [100, 10, 1]

  /// Divides rows into parts for which a statement exists.
  static func parts<Row>(_ rows: [Row]) -> [ArraySlice<Row>] {
    var (parts, start) = ([ArraySlice<Row>](), 0)
    while start < rows.count {
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

    /// The statements that insert rows.
    func statements(_ rows: [[SQLValue]]) -> [SQLStatement] {
      RowBatch.parts(rows).compactMap { part in
        texts[part.count].map { SQLStatement($0, part.flatMap { $0 }) }
      }
    }
  }

  /// A statement about rows of one zone whose key is in a list: `$1` is the zone, and the list replaces `%`.
  struct Keyed: Sendable {
    private let texts: [Int: String]

    init(_ text: String) {
      texts = RowBatch.texts { size in
        let list = (2...(size + 1)).map { "$\($0)" }.joined(separator: ", ")
        return text.replacing("%", with: "(\(list))")
      }
    }

    func rows(_ zone: SQLValue, _ keys: [SQLValue], in session: any SQLSession) throws -> [SQLRow] {
      try RowBatch.parts(keys).flatMap { part in
        try texts[part.count].map { try session.rows($0, [zone] + part) } ?? []
      }
    }
  }

  private static func texts(_ text: (Int) -> String) -> [Int: String] {
    Dictionary(uniqueKeysWithValues: sizes.map { ($0, text($0)) })
  }
}
#endif
