#if Server
import SteadSQLite
import Synchronization

/// Runs transactions on SQLite or PostgreSQL.
///
/// Writing work is grouped (group commit): jobs that wait while a transaction is committed share the next one, each
/// in its own savepoint, and are answered after the commit. So the cost of a commit, a sync of the disk, is shared.
/// The engines differ only in their ``SQLSession`` and in the number of connections: one that writes with SQLite,
/// which allows one writer at a time, and by default eight with PostgreSQL. Four connections read.
///
/// Each connection has its own thread, since the calls of both libraries block, and would hold a thread of Swift's
/// cooperative pool.
package final class StorageEngine: Sendable {
  /// The maximum number of jobs in one transaction. With more, the first one would wait longer.
  static let maximumJobsInGroup = 128

  /// The location of the data.
  package enum Location: Sendable, Equatable {
    /// The path of an SQLite file.
    case sqlite(String)
    /// A connection string of libpq.
    case postgreSQL(String)
  }

  /// Where the data is.
  let location: Location
  /// The work that writes.
  private let writing = WorkQueue()
  /// The work that only reads.
  private let reading = WorkQueue()
  /// The threads that haven't ended.
  private let running: Mutex<Ending>

  /// The number of running threads, and the callers of ``close()`` that wait for the last one.
  private struct Ending {
    var workers: Int
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// Opens a database, makes its tables and starts the threads. Blocks until the database has answered.
  ///
  /// - Parameter connections: The number of connections that write to PostgreSQL; SQLite always has one.
  /// - Throws: ``EngineError`` if the database can't be opened, or if another version of the server made it.
  package init(_ location: Location, connections: Int = 8) throws {
    self.location = location
    let connect = Self.connect(location)
    // On this thread, so that a wrong address or a newer database is an error of the start and not of the first
    // request.
    let session = try connect(true)
    try Tables.create(in: session)
    let writers: Int
    let lanes: Int
    switch location {
    case .sqlite: (writers, lanes) = (1, Self.maximumJobsInGroup)
    // With one lane a transaction locks one zone at most. With several, connections of two servers could wait for
    // each other's locks, and a zone would stay locked while other zones' work is done.
    case .postgreSQL: (writers, lanes) = (connections, 1)
    }
    let readers = 4
    running = Mutex(Ending(workers: writers + readers))
    for _ in 0..<writers {
      start(writing, writes: true, lanes: lanes) { try connect(true) }
    }
    for _ in 0..<readers {
      start(reading, writes: false, lanes: 1) { try connect(false) }
    }
  }

  /// A function that makes a connection. Its argument says whether the connection writes.
  private static func connect(_ location: Location) -> @Sendable (Bool) throws -> any SQLSession {
    switch location {
    case .sqlite(let path): { writes in try SQLiteSession(path: path, writes: writes) }
    case .postgreSQL(let string): { _ in try PostgreSQLSession(string) }
    }
  }

  /// Starts a thread with a connection of its own, which it makes at the first job and again when it breaks.
  private func start(
    _ queue: WorkQueue, writes: Bool, lanes: Int,
    connect: @escaping @Sendable () throws -> any SQLSession
  ) {
    let worker = Worker(
      queue: queue, connect: connect, writes: writes,
      maximumJobs: writes ? Self.maximumJobsInGroup : 1, maximumLanes: lanes
    ) { [weak self] in self?.workerEnded() }
    worker.start()
  }

  /// Runs work in a transaction and returns after the commit. Suspends the task, and blocks only a thread of the
  /// engine.
  ///
  /// The work may be run several times: the transaction is repeated after a conflict. So it must have no effect but
  /// on the session. If it throws, what it wrote is rolled back, and other work of the transaction is kept. Work of
  /// one lane is run in the order of its arrival.
  ///
  /// - Throws: What the work throws; or ``EngineError`` if the database fails, `closed` after ``close()``, and
  ///   `overloaded` beyond ``WorkQueue/maximumWaiting``. After `disconnected` the work may be committed nevertheless.
  func write<Value: Sendable>(
    _ lane: Lane, _ work: @escaping @Sendable (any SQLSession) throws -> Value
  ) async throws -> Value {
    try await submit(to: writing, lane, work)
  }

  /// Runs work that sees one state of the database. It can't write, and doesn't wait for work that does.
  ///
  /// - Throws: As ``write(_:_:)``.
  func read<Value: Sendable>(
    _ work: @escaping @Sendable (any SQLSession) throws -> Value
  ) async throws -> Value {
    // Each read has its own lane, since no read has to wait for another.
    try await submit(to: reading, .zone(String(UInt64.random(in: 0...UInt64.max))), work)
  }

  /// Appends work to a queue and waits for its end. The continuation is resumed exactly once: a worker calls either
  /// the closure that the last run of the work returned, or `fail`.
  private func submit<Value: Sendable>(
    to queue: WorkQueue, _ lane: Lane,
    _ work: @escaping @Sendable (any SQLSession) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.append(
        Job(
          lane: lane,
          work: { session in
            // Only the closure of the last run is called: what earlier ones returned was rolled
            // back.
            let value = try work(session)
            return { continuation.resume(returning: value) }
          },
          fail: { continuation.resume(throwing: $0) }))
    }
  }

  /// Whether one thread does all writing.
  var hasOneWriter: Bool { if case .sqlite = location { true } else { false } }

  /// The amount of work that waits for a connection.
  var waitingWork: Int { writing.count + reading.count }

  /// Accepts no more work, and returns when all waiting work is done. Each thread then closes its connection and
  /// ends.
  package func close() async {
    writing.close()
    reading.close()
    await withCheckedContinuation { continuation in
      // Under the lock that the last worker takes, which may end at this moment.
      let isOver = running.withLock { ending in
        if ending.workers > 0 { ending.waiters.append(continuation) }
        return ending.workers == 0
      }
      if isOver { continuation.resume() }
    }
  }

  /// Counts a thread that ends. The last one resumes those that wait in ``close()``.
  private func workerEnded() {
    let waiters = running.withLock { ending in
      ending.workers -= 1
      return ending.workers == 0 ? ending.waiters : []
    }
    for waiter in waiters { waiter.resume() }
  }
}

extension StorageEngine.Location {
  /// The database that a URL names: `postgresql://…`, `postgres://…` or `sqlite:PATH`. Nil for any other.
  package init?(url: String) {
    if url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") {
      self = .postgreSQL(url)
    } else if url.hasPrefix("sqlite:"), url.count > 7 {
      // Without the seven characters of `sqlite:`.
      self = .sqlite(String(url.dropFirst(7)))
    } else {
      return nil
    }
  }
}

/// A failure of the database.
///
/// The message holds the engine's code, never its own text: PostgreSQL quotes values there.
struct EngineError: Error, Sendable, Equatable {
  enum Code: Sendable {
    /// Another transaction conflicted; the same work may succeed if it is run again.
    case retry
    /// The connection was lost. A commit in progress may have succeeded, so the work isn't run again here. A push may
    /// be sent again, since its transactions have numbers ("Push" in SyncProtocol.md).
    case disconnected
    /// The disk is full or failed.
    case storage
    /// Too much work is waiting.
    case overloaded
    /// The engine was closed.
    case closed
    case other
  }

  /// The kind of failure, which decides whether the work is run again.
  var code: Code
  /// The engine's own code, without its text, and what to do.
  var message: String

  /// The error for a value that no table of this version of the server has.
  static let unexpectedType = EngineError(
    code: .other, message: "A column has a value of an unexpected type; check the database.")
  /// The error for work that comes after ``StorageEngine/close()``.
  static let closed = EngineError(
    code: .closed, message: "The server is shutting down; send the request again.")
  /// The error for work beyond ``WorkQueue/maximumWaiting``.
  static let overloaded = EngineError(
    code: .overloaded, message: "Too much work is waiting for the database; try again.")
}

/// A sequence of work: work in one lane runs in the order of its arrival, and no two connections run work of one lane
/// at the same time.
enum Lane: Hashable, Sendable {
  /// Changes of a zone: pushes, members, blobs and upkeep.
  case zone(String)
  /// Changes of an account: its codes and its devices.
  case account(String)
  /// The renewal of tokens, whose account isn't known before it begins.
  case server
}

/// Work for a connection. Exactly one of the two ends is called: the closure that the work returns, or ``fail``.
struct Job: Sendable {
  /// The lane in whose order it runs.
  let lane: Lane
  /// Does the work, perhaps several times. The returned closure is called after the commit.
  let work: @Sendable (any SQLSession) throws -> @Sendable () -> Void
  /// Called with the reason, instead, if the work or the commit fails.
  let fail: @Sendable (any Error) -> Void
}

// MARK: - Tables

/// The server's tables, in SQL that both engines read.
///
/// The zone is the first column of every key of a zone's rows, so that a database can be divided by zone.
enum Tables {
  /// The version of the tables, in `server_schema`. There are no migrations yet: ``create(in:)`` refuses any other
  /// version.
  static let version: Int64 = 2

  /// Makes the tables that don't exist, in one transaction.
  ///
  /// - Throws: ``EngineError`` if another version of the server made them, or if the database fails.
  static func create(in session: any SQLSession) throws {
    try session.beginWriting()
    do {
      for statement in statements { try session.execute(statement) }
      try checkVersion(session)
      try session.execute("COMMIT")
    } catch {
      session.rollBack()
      throw error
    }
  }

  /// Throws for tables of another version. Records the present version in a new database.
  private static func checkVersion(_ session: any SQLSession) throws {
    // The tables were made a moment ago, in this transaction.
    guard let row = try session.row("SELECT version FROM server_schema") else {
      try session.change("INSERT INTO server_schema (version) VALUES ($1)", [.integer(version)])
      return
    }
    guard try row.integer(0) == version else {
      throw EngineError(
        code: .other, message: "Another version of the server made this database; use that one.")
    }
  }

  /// The tables with a column `zone`, for the removal of a zone.
  static let ofZones = [
    "blob_refs", "blobs", "clients", "marks", "refs", "uniq", "records", "account_zones", "members",
    "zones",
  ]

  private static let statements = access + zones

  /// Accounts, devices, their credentials, and the members of zones.
  private static let access = [
    "CREATE TABLE IF NOT EXISTS server_schema (version BIGINT NOT NULL)",
    """
    CREATE TABLE IF NOT EXISTS accounts (
      account TEXT PRIMARY KEY, created BIGINT NOT NULL)
    """,
    """
    CREATE TABLE IF NOT EXISTS invitations (
      account TEXT NOT NULL, hash BYTEA NOT NULL, expires BIGINT NOT NULL, tries BIGINT NOT NULL,
      PRIMARY KEY (account, hash))
    """,
    """
    CREATE TABLE IF NOT EXISTS devices (
      device TEXT PRIMARY KEY, account TEXT NOT NULL, name TEXT NOT NULL, created BIGINT NOT NULL,
      seen BIGINT NOT NULL, revoked BIGINT NOT NULL, redeemed BYTEA)
    """,
    "CREATE INDEX IF NOT EXISTS devices_account ON devices (account)",
    """
    CREATE TABLE IF NOT EXISTS refresh_tokens (
      hash BYTEA PRIMARY KEY, device TEXT NOT NULL, parent BYTEA, expires BIGINT NOT NULL)
    """,
    "CREATE INDEX IF NOT EXISTS refresh_tokens_device ON refresh_tokens (device)",
    """
    CREATE TABLE IF NOT EXISTS members (
      zone TEXT NOT NULL, account TEXT NOT NULL, role TEXT NOT NULL, PRIMARY KEY (zone, account))
    """,
    """
    CREATE TABLE IF NOT EXISTS account_zones (
      account TEXT NOT NULL, zone TEXT NOT NULL, PRIMARY KEY (account, zone))
    """,
  ]

  /// `token` belongs to the head, `live` counts live records, `time` is the latest time of a push, `clock` and `seen`
  /// are the hybrid clock's moments, and `min_seq` is the number up to which tombstones were purged.
  private static let zones = [
    """
    CREATE TABLE IF NOT EXISTS zones (
      zone TEXT PRIMARY KEY, owner TEXT NOT NULL, head BIGINT NOT NULL, token BIGINT NOT NULL,
      min_seq BIGINT NOT NULL, min_schema BIGINT NOT NULL, bytes BIGINT NOT NULL,
      blob_bytes BIGINT NOT NULL, live BIGINT NOT NULL, time BIGINT NOT NULL,
      clock BIGINT NOT NULL, seen BIGINT NOT NULL, rules BYTEA NOT NULL, created BIGINT NOT NULL)
    """,
    "CREATE INDEX IF NOT EXISTS zones_owner ON zones (owner)",
    """
    CREATE TABLE IF NOT EXISTS records (
      zone TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, seq BIGINT NOT NULL,
      dead BIGINT NOT NULL, size BIGINT NOT NULL, body BYTEA NOT NULL,
      PRIMARY KEY (zone, id), UNIQUE (zone, seq))
    """,
    """
    CREATE TABLE IF NOT EXISTS uniq (
      zone TEXT NOT NULL, token TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (zone, token))
    """,
    """
    CREATE TABLE IF NOT EXISTS refs (
      zone TEXT NOT NULL, target TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (zone, target, id))
    """,
    """
    CREATE TABLE IF NOT EXISTS clients (
      zone TEXT NOT NULL, client TEXT NOT NULL, device TEXT NOT NULL, state BYTEA NOT NULL,
       PRIMARY KEY (zone, client))
    """,
    """
    CREATE TABLE IF NOT EXISTS marks (
      zone TEXT NOT NULL, head BIGINT NOT NULL, token BIGINT NOT NULL, made BIGINT NOT NULL,
      PRIMARY KEY (zone, head))
    """,
    """
    CREATE TABLE IF NOT EXISTS blobs (
      zone TEXT NOT NULL, sha256 TEXT NOT NULL, size BIGINT NOT NULL, touched BIGINT NOT NULL,
      PRIMARY KEY (zone, sha256))
    """,
    """
    CREATE TABLE IF NOT EXISTS blob_refs (
      zone TEXT NOT NULL, sha256 TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (zone, sha256, id))
    """,
  ]
}
#endif
