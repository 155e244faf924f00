#if Server
import Synchronization

/// Runs transactions on SQLite or PostgreSQL.
///
/// Writing work is grouped: jobs that wait while a transaction is committed share the next one, each in its own
/// savepoint, and are answered after the commit. The engines differ only in their ``SQLSession`` and in the number of
/// connections.
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

  let location: Location
  private let writing = WorkQueue()
  private let reading = WorkQueue()
  private let running: Mutex<Ending>

  private struct Ending {
    var workers: Int
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// Opens a database and makes its tables.
  ///
  /// Throws ``ServerError`` if the database can't be opened.
  package init(_ location: Location, connections: Int = 8) throws {
    self.location = location
    let connect = Self.connect(location)
    let session = try connect(true)
    try Tables.create(in: session)
    let writers: Int
    let lanes: Int
    switch location {
    case .sqlite: (writers, lanes) = (1, Self.maximumJobsInGroup)
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

  private static func connect(_ location: Location) -> @Sendable (Bool) throws -> any SQLSession {
    switch location {
    case .sqlite(let path): { writes in try SQLiteSession(path: path, writes: writes) }
    case .postgreSQL(let string): { _ in try PostgreSQLSession(string) }
    }
  }

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

  /// Runs work in a transaction and returns after the commit.
  ///
  /// The work may be run several times. If it throws, what it wrote is rolled back.
  func write<Value: Sendable>(
    _ lane: Lane, _ work: @escaping @Sendable (any SQLSession) throws -> Value
  ) async throws -> Value {
    try await submit(to: writing, lane, work)
  }

  /// Runs work that sees one state of the database.
  func read<Value: Sendable>(
    _ work: @escaping @Sendable (any SQLSession) throws -> Value
  ) async throws -> Value {
    // Each read has its own lane, since no read has to wait for another.
    try await submit(to: reading, .zone(String(UInt64.random(in: 0...UInt64.max))), work)
  }

  private func submit<Value: Sendable>(
    to queue: WorkQueue, _ lane: Lane,
    _ work: @escaping @Sendable (any SQLSession) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.append(
        Job(
          lane: lane,
          work: { session in
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

  /// Accepts no more work, and returns when all waiting work is done.
  package func close() async {
    writing.close()
    reading.close()
    await withCheckedContinuation { continuation in
      let isOver = running.withLock { ending in
        if ending.workers > 0 { ending.waiters.append(continuation) }
        return ending.workers == 0
      }
      if isOver { continuation.resume() }
    }
  }

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
    /// The connection was lost. A commit in progress may have succeeded.
    case disconnected
    /// The disk is full or failed.
    case storage
    /// Too much work is waiting.
    case overloaded
    /// The engine was closed.
    case closed
    case other
  }

  var code: Code
  var message: String

  static let unexpectedType = EngineError(
    code: .other, message: "A column has a value of an unexpected type; check the database.")
  static let closed = EngineError(
    code: .closed, message: "The server is shutting down; send the request again.")
  static let overloaded = EngineError(
    code: .overloaded, message: "Too much work is waiting for the database; try again.")
}

/// A sequence of work: work in one lane runs in the order of its arrival.
enum Lane: Hashable, Sendable {
  case zone(String)
  case account(String)
  case server
}

/// Work for a connection.
struct Job: Sendable {
  let lane: Lane
  /// Does the work, perhaps several times. The returned closure is called after the commit.
  let work: @Sendable (any SQLSession) throws -> @Sendable () -> Void
  /// Called with the reason, instead, if the work or the commit fails.
  let fail: @Sendable (any Error) -> Void
}
#endif
