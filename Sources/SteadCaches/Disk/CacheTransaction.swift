import CSteadFiles
import Foundation
import SteadFiles
import SteadSQLite
import Synchronization

/// One transaction that changes a cache, from its beginning to its commit.
///
/// The tables are drawn in CacheSchema.swift. Invariants that every method keeps:
/// - a row of `entries`, one of `contents` and those of `tags` exist together, by the same `id`;
/// - `state.size` and `state.count` are the sums over `entries`;
/// - a value's file exists before its row is committed, and is removed after the commit that
///   removes its row (`filesToRemove`). So a committed row never names a file that is missing,
///   unless another process has removed the row since.
///
/// After a power cut the rows may disagree, since nothing is synced. Then ``removeEntry(_:)`` and
/// ``rows(of:)`` accept partial rows, and ``recount()`` corrects the state.
struct CacheTransaction {
  /// The number of expired entries that a set removes beyond those that it must: the cost of expiry
  /// is spread over sets.
  static let expiredPerSet = 8

  /// The row of the table `state`.
  struct State: Sendable {
    var size: Int
    var count: Int
    /// The greatest number given to an entry (`id`) or to a use of one (`used`).
    var sequence: Int64

    mutating func next() -> Int64 {
      sequence += 1
      return sequence
    }
  }

  /// A row of the table `entries`.
  struct Row {
    let used: Int64
    let id: Int64
    let size: Int
    let form: StoredEntry.Form
  }

  let connection: SQLiteConnection
  let hash: KeyHash
  let limits: DiskCache.Limits
  let now: Int64
  private(set) var state: State
  /// The entries whose files are removed after the commit.
  private(set) var filesToRemove: [Int64] = []
  private(set) var evictions = 0
  /// Called after the commit, while the lock is still held by this process.
  var whenCommitted: (() -> Void)?
  /// Called when the commit has failed, while the lock is still held by this process.
  var whenFailed: (() -> Void)?

  /// Reads the state of a transaction that has begun on a connection.
  init(
    on connection: SQLiteConnection, hash: KeyHash, limits: DiskCache.Limits, now: Int64
  ) throws {
    self.connection = connection
    self.hash = hash
    self.limits = limits
    self.now = now
    let row = try connection.statement("SELECT size, count, sequence FROM state")
    // The connection caches its statements. One that an error has left at a row is run from the
    // start, and one that stayed at a row would keep the snapshot open after the commit. So every
    // use rewinds before and after.
    row.rewind()
    defer { row.rewind() }
    guard try row.step() else { throw SQLiteError.damaged("the cache's state is missing") }
    // A damaged file may hold any integer. Within these ranges no sum below overflows, which would
    // end the program.
    guard StoredEntry.sizes.contains(row.integer(0)), StoredEntry.sizes.contains(row.integer(1)),
      StoredEntry.numbers.contains(row.integer(2))
    else { throw SQLiteError.damaged("the cache's counts are out of range") }
    state = State(
      size: Int(row.integer(0)), count: Int(row.integer(1)), sequence: row.integer(2))
  }

  /// Writes the state; call it before the commit.
  func finish() throws {
    let update = try connection.statement("UPDATE state SET size = ?, count = ?, sequence = ?")
    update.rewind()
    update.bind(Int64(state.size), at: 1)
    update.bind(Int64(state.count), at: 2)
    update.bind(state.sequence, at: 3)
    try update.run()
  }

  // MARK: - Finding

  private static let columns = "used, id, size, form"

  /// The rows that a condition selects, with the values of its parameters.
  ///
  /// Costs memory for every row, so callers limit their number where that is unbounded.
  func rows(_ condition: String, _ values: Int64...) throws -> [Row] {
    let select = try connection.statement("SELECT \(Self.columns) FROM entries \(condition)")
    select.rewind()
    defer { select.rewind() }
    for (index, value) in values.enumerated() { select.bind(value, at: Int32(index + 1)) }
    var rows: [Row] = []
    // Collected before the caller changes any: whether a running SELECT sees its own connection's
    // changes is undefined (<https://www.sqlite.org/isolation.html>).
    while try select.step() {
      guard StoredEntry.sizes.contains(select.integer(2)) else {
        throw SQLiteError.damaged("an entry's size is out of range")
      }
      rows.append(
        Row(
          used: select.integer(0), id: select.integer(1), size: Int(select.integer(2)),
          form: StoredEntry.Form(rawValue: select.integer(3))))
    }
    return rows
  }

  /// The rows of a key: at most one, unless a power cut or another program has left more.
  func rows(of key: Data) throws -> [Row] {
    let hash = key.withUnsafeBytes { self.hash($0) }
    // INDEXED BY: without the index the statement fails, instead of reading the whole table with
    // every set.
    let candidates = try rows("INDEXED BY entries_by_hash WHERE hash = ?", hash)
    return try candidates.filter { row in
      let select = try connection.statement("SELECT key FROM contents WHERE id = ?")
      select.rewind()
      defer { select.rewind() }
      select.bind(row.id, at: 1)
      // A row without contents belongs to no key any more, so whoever finds it removes it.
      // The hash only narrows the rows down; keys are compared as a whole.
      return try !select.step() || select.bytes(0).elementsEqual(key)
    }
  }

  /// The key of a row if it begins with some bytes; nil if it doesn't.
  func key(of row: Row, withPrefix prefix: String) throws -> Data? {
    let select = try connection.statement("SELECT key FROM contents WHERE id = ?")
    select.rewind()
    defer { select.rewind() }
    select.bind(row.id, at: 1)
    guard try select.step(), select.bytes(0).starts(with: prefix.utf8) else { return nil }
    return Data(select.bytes(0))
  }

  /// The ids of entries that have a tag.
  func ids(taggedWith tag: String, limit: Int) throws -> [Int64] {
    let select = try connection.statement("SELECT id FROM tags WHERE tag = ? LIMIT ?")
    select.rewind()
    defer { select.rewind() }
    select.bind(.blob(Data(tag.utf8)), at: 1)
    select.bind(Int64(limit), at: 2)
    var ids: [Int64] = []
    // Collected first, since the caller removes these rows of `tags`.
    while try select.step() { ids.append(select.integer(0)) }
    return ids
  }

  /// The row of an entry's id; none when a power cut has left only its tags.
  private func rows(withID id: Int64) throws -> [Row] {
    let select = try connection.statement("SELECT key FROM contents WHERE id = ?")
    select.rewind()
    select.bind(id, at: 1)
    guard try select.step() else {
      select.rewind()
      return []
    }
    let hash = self.hash(select.bytes(0))
    select.rewind()
    return try rows("INDEXED BY entries_by_hash WHERE hash = ? AND id = ?", hash, id)
  }

  // MARK: - Removing

  /// The entries that have expired, the oldest first. Repeats the condition of the partial index,
  /// without which SQLite doesn't use it (<https://www.sqlite.org/partialindex.html>).
  static let expired = """
    INDEXED BY entries_by_expiry WHERE expires <= ? AND expires < \(WallClock.never) ORDER BY expires
    """

  /// Removes an entry: its rows now, and its file after the commit.
  ///
  /// - Throws: `SQLiteError` of the kind `damaged` if the counts would become negative.
  mutating func remove(_ row: Row) throws {
    try run("DELETE FROM entries WHERE used = ?", row.used)
    try run("DELETE FROM contents WHERE id = ?", row.id)
    if row.form.contains(.tags) { try run("DELETE FROM tags WHERE id = ?", row.id) }
    // Not before the commit: if the transaction is rolled back, the entry still needs its file.
    if row.form.contains(.file) { filesToRemove.append(row.id) }
    state.size -= row.size
    state.count -= 1
    // `recount` corrects the counts after a power cut, so the file is damaged in another way.
    guard state.size >= 0, state.count >= 0 else {
      throw SQLiteError.damaged("the cache's counts do not match its entries")
    }
  }

  /// Removes entries, one after the other.
  ///
  /// - Returns: How many they are.
  @discardableResult
  mutating func remove(_ rows: [Row]) throws -> Int {
    for row in rows { try remove(row) }
    return rows.count
  }

  /// Removes the entry with an id, and its tags even if a power cut has left nothing else of it.
  mutating func removeEntry(_ id: Int64) throws {
    try remove(rows(withID: id))
    try run("DELETE FROM tags WHERE id = ?", id)
  }

  /// Removes the oldest of the entries that have expired.
  mutating func removeExpired(limit: Int) throws {
    try remove(rows("\(Self.expired) LIMIT ?", now, Int64(limit)))
  }

  /// Evicts entries until a number of new ones with a total size fit: expired ones, then the least
  /// recently used.
  ///
  /// Terminates: each turn removes an entry, or takes a record of a use out of `uses`.
  mutating func makeRoom(forCount count: Int, size: Int, _ uses: RecencyLog) throws {
    try removeExpired(limit: Self.expiredPerSet)
    while state.size > limits.totalSizeLimit - size || state.count > limits.countLimit - count {
      // Nobody finds an expired entry again, so it goes before an unexpired one, however recently
      // it was used.
      if let expired = try rows("\(Self.expired) LIMIT 1", now).first {
        try remove(expired)
        continue
      }
      guard let oldest = try rows("ORDER BY used LIMIT 1").first else {
        // The counts were wrong: there is no entry left.
        state.size = 0
        state.count = 0
        return
      }
      if uses.remove(oldest.used) {
        // Used since then, which only this process's memory knows: a second chance.
        try restamp(oldest.used)
      } else {
        try remove(oldest)
        evictions += 1
      }
    }
  }

  // MARK: - Adding

  /// Makes an entry the most recently used.
  mutating func restamp(_ used: Int64) throws {
    try run("UPDATE entries SET used = ? WHERE used = ?", state.next(), used)
  }

  /// Adds the entry of a key that has none, and gives it an id unless it has one.
  mutating func add(_ entry: inout StoredEntry, value: UnsafeRawBufferPointer?) throws {
    entry.used = state.next()
    if entry.id == 0 { entry.id = entry.used }
    try addRow(entry)
    try addContents(entry, value: value)
    for tag in entry.tags.parts {
      try connection.run(
        "INSERT OR IGNORE INTO tags VALUES (?, ?)", [.blob(tag), .integer(entry.id)])
    }
    state.size += entry.size
    state.count += 1
  }

  private func addRow(_ entry: StoredEntry) throws {
    let insert = try connection.statement("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)")
    insert.rewind()
    insert.bind(entry.used, at: 1)
    insert.bind(entry.id, at: 2)
    insert.bind(entry.key.withUnsafeBytes { self.hash($0) }, at: 3)
    insert.bind(Int64(entry.size), at: 4)
    insert.bind(entry.stored, at: 5)
    insert.bind(entry.expires, at: 6)
    insert.bind(entry.form.rawValue, at: 7)
    try insert.run()
  }

  private func addContents(_ entry: StoredEntry, value: UnsafeRawBufferPointer?) throws {
    let insert = try connection.statement(
      "INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    insert.reset()
    // `reset` instead of `rewind`: it also clears the parameters. Without a value the eleventh must
    // be NULL, and not what an earlier call has bound.
    insert.bind(entry.id, at: 1)
    insert.bind(entry.stored, at: 2)
    insert.bind(entry.expires, at: 3)
    insert.bind(entry.form.rawValue, at: 4)
    insert.bind(Int64(entry.length), at: 5)
    insert.bind(Int64(entry.head), at: 6)
    insert.bind(Int64(entry.body), at: 7)
    insert.bind(.blob(entry.key), at: 8)
    insert.bind(.blob(entry.tags.bytes), at: 9)
    insert.bind(.blob(entry.metadata), at: 10)
    if let value { insert.bind(borrowing: value, at: 11) }
    // Borrowed bytes must not stay bound.
    // The bytes are the caller's, and only valid during this call.
    defer { insert.reset() }
    try insert.run()
  }

  // MARK: - Replacing metadata

  /// The stored form of an entry, without its value; nil if it is damaged.
  func entry(_ id: Int64) throws -> StoredEntry? {
    // The 0 stands for `used`, which `contents` lacks: `StoredEntry` reads columns by their
    // position.
    let select = try connection.statement(
      "SELECT 0, id, stored, expires, form, length, head, body, key, tags, metadata FROM contents WHERE id = ?"
    )
    select.rewind()
    defer { select.rewind() }
    select.bind(id, at: 1)
    return try select.step() ? StoredEntry(select, readsValue: false) : nil
  }

  /// Gives an entry other metadata, and makes it the most recently used.
  mutating func replaceMetadata(_ entry: StoredEntry, _ row: Row, growth: Int) throws {
    // With `head`, which covers the metadata: a row with one of the two alone would count as
    // damaged.
    try connection.run(
      "UPDATE contents SET metadata = ?, head = ? WHERE id = ?",
      [.blob(entry.metadata), .integer(Int64(entry.head)), .integer(entry.id)])
    try run(
      "UPDATE entries SET used = ?, size = ? WHERE used = ?", state.next(), Int64(entry.size),
      row.used)
    state.size += growth
  }

  /// Lets a valid entry live longer, and returns whether it does.
  func prolong(_ id: Int64, until expires: Int64) throws -> Bool {
    guard var entry = try entry(id), entry.form.contains(.idle), now < entry.expires,
      let row = try rows(of: entry.key).first(where: { $0.id == id })
    else { return false }
    guard entry.expires < expires else { return true }
    entry.expires = expires
    // `head` covers the expiry. `entries` has a copy of it, by whose index expired entries are
    // removed.
    try connection.run(
      "UPDATE contents SET expires = ?, head = ? WHERE id = ?",
      [.integer(expires), .integer(Int64(entry.head)), .integer(id)])
    try run("UPDATE entries SET expires = ? WHERE used = ?", expires, row.used)
    return true
  }

  // MARK: - Repairing

  /// Counts the entries again, since a power cut may have left outdated counts: nothing is synced,
  /// so pages of the file can be from different commits.
  mutating func recount() throws {
    state.size = Int(try connection.integer("SELECT sum(size) FROM entries") ?? 0)
    state.count = Int(try connection.integer("SELECT count(*) FROM entries") ?? 0)
    let newest = try connection.integer("SELECT max(used) FROM entries") ?? 0
    let highest = try connection.integer("SELECT max(id) FROM contents") ?? 0
    // Never back: a number that is given a second time would name another value's file.
    state.sequence = max(state.sequence, newest, highest)
    try connection.run("UPDATE state SET boot = ?", [.text(BootIdentifier.current)])
  }

  private func run(_ sql: String, _ values: Int64...) throws {
    let statement = try connection.statement(sql)
    statement.rewind()
    for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
    try statement.run()
  }
}

// MARK: - The write lock

/// The lock that every transaction of a ``CacheDatabase`` holds: a mutex among its threads, and
/// SQLite's lock against other objects and processes.
///
/// SQLite's own busy handler is not used: it can't be told that the last wait was in vain, and a
/// set must not block its caller again and again while another process is stopped in the middle of
/// a transaction. So the first caller waits for ``timeout``, and those after it do not wait until
/// one has found the lock free.
final class WriteLock: Sendable {
  private struct State {
    /// How long the next transaction waits; zero after a wait in vain.
    var timeout = CacheDatabase.lockTimeout
    /// Whether to wait for readers when the log is too long; false after a wait in vain.
    var waitsForReaders = true
  }

  /// The first pause between two attempts, and the longest, in microseconds; each is twice as long
  /// as the one before.
  private static let (firstPause, longestPause) = (useconds_t(50), useconds_t(2_000))

  private let directory: CacheDirectory
  private let state = Mutex(State())
  private let waits = Atomic<Int>(0)

  init(_ directory: CacheDirectory) { self.directory = directory }

  /// How often a transaction has waited for other processes, with success or in vain.
  var waitCount: Int { waits.load(ordering: .relaxed) }

  /// Runs a body in a transaction, which the body commits; rolls it back if the body throws.
  ///
  /// - Parameter timeout: How long to wait for another process; nil for
  ///   ``CacheDatabase/lockTimeout``, or not at all if the last wait was in vain.
  /// - Throws: `SQLiteError` of the kind `locked` after the timeout, ``CacheFailure/logTooLong``,
  ///   and what the body throws.
  func withTransaction<Result: Sendable>(
    on connection: SQLiteConnection, of open: OpenDatabase, timeout: Duration?,
    _ body: () throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      // Before the transaction: SQLite refuses a checkpoint within one (`SQLITE_LOCKED`).
      try checkLog(connection, open, &state)
      try begin(connection, &state, timeout)
      do {
        return try body()
      } catch {
        // SQLite has rolled back by itself after some errors, such as a full disk. Then this one
        // fails, harmlessly.
        try? connection.run("ROLLBACK")
        throw error
      }
    }
  }

  private func begin(
    _ connection: SQLiteConnection, _ state: inout State, _ timeout: Duration?
  ) throws {
    let deadline = ContinuousClock.now + (timeout ?? state.timeout)
    var pause = Self.firstPause
    while true {
      do {
        // Immediate: a transaction that begins as a reader may find at its first write that its
        // snapshot is old, and must be rolled back then.
        try connection.run("BEGIN IMMEDIATE")
        state.timeout = CacheDatabase.lockTimeout
        return
      } catch let error as SQLiteError where error.kind == .locked {
        guard ContinuousClock.now < deadline else {
          // A caller with a timeout of its own tells nothing about how long others should wait.
          if timeout == nil { state.timeout = .zero }
          throw error
        }
        if pause == Self.firstPause { waits.add(1, ordering: .relaxed) }
        // SQLite does not notify waiters when another process releases its lock.
        usleep(pause)
        pause = min(2 * pause, Self.longestPause)
      }
    }
  }

  private var isLogTooLong: Bool {
    get throws {
      try directory.disk.status(at: directory.log).map { $0.size > CacheDatabase.logLimit } ?? false
    }
  }

  /// Resets a log that has become too long, or refuses to write to it.
  ///
  /// A reader that has stopped within a transaction keeps SQLite from using the log from its start
  /// again, so each commit would make it longer (checkpoint starvation).
  private func checkLog(
    _ connection: SQLiteConnection, _ open: OpenDatabase, _ state: inout State
  ) throws {
    guard try isLogTooLong else { return }
    // The reader that holds the log back may be an idle one of this object.
    open.endSnapshots()
    if !state.waitsForReaders {
      // The result is (busy, pages of the log, pages of it that are in the file). The last two are
      // equal once no reader needs an old state.
      let counts = try connection.rows("PRAGMA wal_checkpoint(PASSIVE)").first?.dropFirst() ?? []
      guard counts.first == counts.last else { throw CacheFailure.logTooLong }
    }
    // Truncates the log, too. Waits for readers.
    waits.add(1, ordering: .relaxed)
    connection.setBusyTimeout(CacheReader.lockTimeout)
    defer { connection.setBusyTimeout(0) }
    _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    state.waitsForReaders = try !isLogTooLong
    if !state.waitsForReaders { throw CacheFailure.logTooLong }
  }
}
