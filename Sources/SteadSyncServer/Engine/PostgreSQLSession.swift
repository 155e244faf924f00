#if Server
import CServerPostgreSQL
import Foundation
import SteadSQLite

/// A connection to PostgreSQL through libpq, with parameters and results in binary.
///
/// Used by one thread, as libpq requires of a `PGconn`: all calls block. Each SQL text is prepared once for the
/// connection, and its statement stays until the connection ends, so the number of texts has to be bounded
/// (``RowBatch/sizes``).
///
/// It talks only to the leader. A read from a replica could be older than what a device has seen, and the device
/// would take that for a rollback ("After a rollback" in SyncProtocol.md).
final class PostgreSQLSession: SQLSession {
  private let connection: OpaquePointer
  /// The names of the prepared statements, by their SQL.
  private var statements: [String: String] = [:]
  /// Whether the connection's server is no longer the leader.
  private var hasLostLeader = false
  /// Whether the present statement caused a warning.
  private var isWarned = false

  /// Time-outs, in seconds and milliseconds, after which a connection to an unreachable server fails; an address may
  /// set others. Without them it would take 15 minutes.
  private static let timeouts = [
    ("connect_timeout", "5"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
    ("keepalives_count", "2"), ("tcp_user_timeout", "20000"),
  ]

  /// Connects to the leader. Blocks for up to 5 seconds for each host, unless the string sets another
  /// `connect_timeout`.
  ///
  /// - Parameter string: A connection string or a URL of libpq. What is missing in it comes from the environment
  ///   and from `~/.pgpass`.
  /// - Throws: ``EngineError`` with the code `disconnected` if the server can't be reached or is read-only. Its
  ///   message has no part of the string, which may contain a password.
  init(_ string: String) throws {
    guard let connection = Self.connect(string) else {
      throw EngineError(code: .disconnected, message: "libpq has no memory for a connection.")
    }
    self.connection = connection
    guard PQstatus(connection) == CONNECTION_OK else {
      // The message may contain the address, never the password. Answers contain neither.
      throw EngineError(
        code: .disconnected,
        message: "PostgreSQL can't be reached; check the address, and that it is running.")
    }
    // Before the first statement, whose notices would go to standard error.
    watchNotices()
    // An acknowledged push must survive a crash, whatever the default of the database or of the user is.
    try execute("SET synchronous_commit = on")
    try requireLeader()
  }

  private static func connect(_ string: String) -> OpaquePointer? {
    // If a name appears twice, the later one counts; the address replaces the names that it contains.
    let settings = timeouts + [("dbname", string)]
    let words = settings.map { strdup($0.0) } + settings.map { strdup($0.1) }
    defer { for word in words { free(word) } }
    let count = settings.count
    let names = words[..<count].map { UnsafePointer($0) } + [nil]
    let values = words[count...].map { UnsafePointer($0) } + [nil]
    // The last argument lets libpq expand `dbname` as a connection string.
    return PQconnectdbParams(names, values, 1)
  }

  /// Counts warnings, and keeps all notices out of standard error, where libpq writes them by default.
  private func watchNotices() {
    // They would be written to standard error, with values. `passUnretained` is safe: the connection calls the
    // receiver only during calls of this session, and is closed by its deinit.
    PQsetNoticeReceiver(
      connection,
      { session, notice in
        // `V` is the severity in English, whatever the server's language is.
        guard let session, let severity = PQresultErrorField(notice, Int32(UInt8(ascii: "V")))
        else { return }
        guard String(cString: severity) == "WARNING" else { return }
        Unmanaged<PostgreSQLSession>.fromOpaque(session).takeUnretainedValue().isWarned = true
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Throws ``EngineError`` if the server is a replica. A replica would answer reads with an older state. To devices,
  /// that would look like a server that has lost changes.
  private func requireLeader() throws {
    guard try row("SHOW transaction_read_only")?.text(0) == "off" else {
      throw EngineError(
        code: .disconnected,
        message: "PostgreSQL is read-only, as a replica is; let the address lead to the leader.")
    }
  }

  deinit { PQfinish(connection) }

  var isInTransaction: Bool {
    // Also after an error: the transaction stays open, and unusable, until it is rolled back.
    let status = PQtransactionStatus(connection)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
  }

  var isBroken: Bool { hasLostLeader || PQstatus(connection) != CONNECTION_OK }

  func beginWriting() throws { try execute("BEGIN") }

  /// Begins a snapshot. PostgreSQL's default, READ COMMITTED, takes another snapshot for each statement: a page could
  /// then have a head that is newer than its records.
  func beginReading() throws { try execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") }

  /// Runs statements by the simple query protocol.
  ///
  /// Invariant: it returns from `COMMIT` only if the transaction is committed and, with synchronous replication, at
  /// the replicas. Otherwise a push could be acknowledged that the next failover loses.
  func execute(_ sql: String) throws {
    isWarned = false
    let result = PQexec(connection, sql)
    defer { PQclear(result) }
    try check(result)
    // COMMIT of a failed transaction rolls back, without an error: its command tag is ROLLBACK.
    if sql == "COMMIT", String(cString: PQcmdStatus(result)) != "COMMIT" {
      throw EngineError(code: .other, message: "PostgreSQL rolled a transaction back.")
    }
    // The wait for the replicas was cancelled, so a failover may lose the commit. Running the same work again waits
    // for them again.
    if sql == "COMMIT", isWarned {
      throw EngineError(
        code: .disconnected,
        message: "PostgreSQL committed with a warning, perhaps without its replicas; try again.")
    }
  }

  func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
    let result = try run(sql, values)
    defer { PQclear(result) }
    let columns = PQnfields(result)
    return try (0..<PQntuples(result)).map { row in
      SQLRow(values: try (0..<columns).map { try Self.value(result, row, $0) })
    }
  }

  @discardableResult
  func change(_ sql: String, _ values: [SQLValue]) throws -> Int {
    let result = try run(sql, values)
    defer { PQclear(result) }
    // An empty string for a statement that changes no rows.
    return Int(String(cString: PQcmdTuples(result))) ?? 0
  }

  // MARK: Statements

  /// Runs a prepared statement with binary parameters; the caller has to clear the result.
  private func run(_ sql: String, _ values: [SQLValue]) throws -> OpaquePointer? {
    let name = try prepared(sql)
    let encoded = values.map(Self.bytes)
    let lengths = encoded.map { Int32($0?.count ?? 0) }
    // 1 is libpq's binary format.
    let formats = [Int32](repeating: 1, count: values.count)
    let addresses = Self.allocate(encoded)
    defer { for address in addresses { address?.deallocate() } }
    let pointers = addresses.map { $0.map { UnsafePointer($0) } }
    let result = PQexecPrepared(
      connection, name, Int32(values.count), pointers, lengths, formats, 1)
    do {
      try check(result)
    } catch {
      PQclear(result)
      throw error
    }
    return result
  }

  /// The name of the prepared statement for SQL, which is prepared at its first use. The types of its parameters are
  /// left to the server, which infers them from the columns.
  private func prepared(_ sql: String) throws -> String {
    if let name = statements[sql] { return name }
    // A number, since the SQL is longer than a name may be.
    let name = "s\(statements.count)"
    let result = PQprepare(connection, name, sql, 0, nil)
    defer { PQclear(result) }
    try check(result)
    // After the check: a statement that couldn't be prepared has no name at the server.
    statements[sql] = name
    return name
  }

  /// A parameter in PostgreSQL's binary format: numbers with the most significant byte first, text as UTF-8; nil for
  /// null.
  private static func bytes(_ value: SQLValue) -> [UInt8]? {
    switch value {
    case .null: nil
    case .integer(let value): withUnsafeBytes(of: value.bigEndian, Array.init)
    case .text(let value): Array(value.utf8)
    case .real(let value): withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init)
    case .blob(let value): Array(value)
    }
  }

  /// Copies parameters to memory that stays in place during a call; the caller has to deallocate it. An empty value
  /// gets a byte of memory, since a null pointer would be the value null.
  private static func allocate(_ values: [[UInt8]?]) -> [UnsafeMutablePointer<CChar>?] {
    values.map { bytes in
      guard let bytes else { return nil }
      let pointer = UnsafeMutablePointer<CChar>.allocate(capacity: max(bytes.count, 1))
      for (index, byte) in bytes.enumerated() { pointer[index] = CChar(bitPattern: byte) }
      return pointer
    }
  }

  /// A column of a result in binary format. Throws ``EngineError/unexpectedType`` for a type that no table of the
  /// server has.
  private static func value(_ result: OpaquePointer?, _ row: Int32, _ column: Int32) throws
    -> SQLValue
  {
    if PQgetisnull(result, row, column) == 1 { return .null }
    let bytes = UnsafeRawBufferPointer(
      start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    // The OIDs of built-in types, which never change (`pg_type.dat`): int8, int4, bytea, text, float8.
    switch PQftype(result, column) {
    case 20: return .integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
    case 23: return .integer(Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))))
    case 17: return .blob(Data(bytes))
    case 25: return .text(String(decoding: bytes, as: UTF8.self))
    case 701:
      return .real(Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
    default: throw EngineError.unexpectedType
    }
  }

  // MARK: Errors

  /// Throws unless a statement succeeded, with what the worker has to do next as the error's code.
  ///
  /// The SQLSTATEs are those of PostgreSQL's appendix A. `retry` is for serialization failures, deadlocks and lock
  /// timeouts, after which the transaction can run again. `disconnected` is for a server that ends or has become a
  /// replica.
  private func check(_ result: OpaquePointer?) throws {
    let status = PQresultStatus(result)
    guard status != PGRES_COMMAND_OK, status != PGRES_TUPLES_OK else { return }
    // Without an SQLSTATE there was no answer from the server.
    guard !isBroken, let field = PQresultErrorField(result, Int32(UInt8(ascii: "C"))) else {
      throw EngineError(
        code: .disconnected, message: "The connection to PostgreSQL broke; try again.")
    }
    let state = String(cString: field)
    let code: EngineError.Code
    switch state {
    case "40001", "40P01", "55P03": code = .retry
    case "53100", "58030": code = .storage
    case "57P01", "57P02", "57P03", "08006", "08003": code = .disconnected
    case "25006":
      code = .disconnected
      // The connection would stay connected to a replica.
      hasLostLeader = true
    default: code = .other
    }
    throw EngineError(code: code, message: "PostgreSQL refused a statement with SQLSTATE \(state).")
  }
}
#endif
