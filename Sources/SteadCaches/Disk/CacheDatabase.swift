import Foundation
import SteadFiles
import SteadSQLite
import Synchronization

/// Owns the cache's SQLite file: opens it lazily, recreates it when it is damaged, and reopens it
/// when another file was put in its place.
///
/// Nothing here throws to the cache's user. An error is classified by ``handle(_:_:)``: it either
/// closes the file, marks it as damaged, or only fails this call; it is reported once of each kind
/// when no lock is held.
///
/// Locks, in the order in which they are acquired: `session`, which is held while the file is
/// opened and otherwise only briefly, then the writing connection's (``OpenDatabase``), then
/// ``WriteLock``.
final class CacheDatabase: Sendable {
  /// How long a set waits for another process that writes. After a wait in vain the next ones do
  /// not wait (``WriteLock``).
  static let lockTimeout = Duration.milliseconds(500)
  /// How long a cache that cannot be opened returns misses before it tries to open again, and how
  /// long a read assumes that the file was not replaced; a write checks each time.
  static let retryInterval = Duration.seconds(1)
  /// The log's length in bytes from which nothing is stored until readers of an old state have
  /// finished.
  static let logLimit: Int64 = 32 << 20
  /// How many pages may be in use for free pages' space to be returned: 4 MB.
  private static let vacuumLimit: Int64 = 1_000

  private struct Session {
    var open: OpenDatabase?
    /// The file that was found to be damaged. The next opening removes it, if it is still that
    /// file.
    var damaged: FileStatus.Identity?
    /// The earliest time at which a damaged file may be replaced again.
    var nextRecreation = ContinuousClock.now
    var nextOpening = ContinuousClock.now
    var nextIdentityCheck = ContinuousClock.now
  }

  let directory: CacheDirectory
  let limits: DiskCache.Limits
  let now: @Sendable () -> Date
  private let retryInterval: Duration
  private let forks = forkGeneration
  private let session = Mutex(Session())
  private let lock: WriteLock
  let uses = RecencyLog()
  private let problems: ProblemQueue
  /// A position in the order of use: entries after it are among the newest quarter, and their uses
  /// need no record, since they are not evicted soon.
  ///
  /// `.max` until the first write, when nothing is known of the order: every use is recorded.
  private let recentUse = Atomic<Int64>(.max)
  let evictions = Atomic<Int>(0)
  /// How often a change has waited for other processes, with success or in vain.
  var waitCount: Int { lock.waitCount }

  init(
    _ directory: CacheDirectory, limits: DiskCache.Limits, now: @escaping @Sendable () -> Date,
    retryInterval: Duration
  ) {
    self.directory = directory
    self.limits = limits
    self.now = now
    self.retryInterval = retryInterval
    lock = WriteLock(directory)
    problems = ProblemQueue(path: directory.path)
  }

  deinit {
    // The child of a fork must not use its parent's connections.
    guard forks == forkGeneration else { return }
    // For programs that only read: no set of theirs writes down the uses.
    let stamps = uses.takeOldest(RecencyLog.capacity)
    guard !stamps.isEmpty, let open = session.withLock({ $0.open }) else { return }
    try? change(open, timeout: .zero) { transaction in
      for stamp in stamps { try transaction.restamp(stamp) }
    }
  }

  // MARK: - Reading and writing

  /// Runs a body with a connection that reads; nil when the cache does not work now, or the body
  /// throws.
  func read<Result>(_ body: (CacheReader, OpenDatabase) throws -> Result) -> Result? {
    guard let open = current(checksIdentity: false) else { return nil }
    do {
      return try open.read { try body($0, open) }
    } catch {
      handle(error, open)
      return nil
    }
  }

  /// Runs a body in a transaction; nil if the cache does not work now, and then nothing has
  /// changed.
  ///
  /// The body runs a second time, in the empty file that replaces the old one, if the old one turns
  /// out to be damaged. So it must have no effect besides the transaction's, except through
  /// `whenCommitted` and `whenFailed`.
  ///
  /// - Parameter origin: The object that makes the change and already knows of it; its
  ///   ``ChangeToken`` stays the same.
  func write<Result: Sendable>(
    by origin: ChangeOrigin? = nil,
    _ body: (inout CacheTransaction, OpenDatabase) throws -> Result
  ) -> Result? {
    var isAgain = false
    while let open = current(checksIdentity: true) {
      do {
        return try change(open, by: origin) { try body(&$0, open) }
      } catch {
        handle(error, open)
        guard CacheFailure.isDamage(error), !isAgain else { return nil }
        isAgain = true
      }
    }
    return nil
  }

  /// Runs a body in a transaction only if the lock is free, for changes that may be lost; returns
  /// false if it has failed.
  func writeWithoutWaiting(
    by origin: ChangeOrigin?, _ body: (inout CacheTransaction, OpenDatabase) throws -> Bool
  ) -> Bool {
    guard let open = current(checksIdentity: true) else { return false }
    do {
      return try change(open, timeout: .zero, by: origin) { try body(&$0, open) }
    } catch {
      // A busy or full disk is no problem of a change that may be lost.
      if CacheFailure.isDamage(error) { handle(error, open) }
      return false
    }
  }

  /// The file's current version for an object whose own changes do not count; nil if it can't be
  /// determined.
  func token(for origin: ChangeOrigin) -> ChangeToken? {
    current(checksIdentity: false)?.token(for: origin)
  }

  /// Whether the file is open, or could be opened now.
  var canBeOpened: Bool { current(checksIdentity: true) != nil }

  /// Makes the file of a new value; nil when the cache does not work now.
  func makeDraft() throws -> ValueFileDraft? {
    guard let open = current(checksIdentity: true) else { return nil }
    // With the rights of the files' owner, so that the file is the owner's, too.
    return try open.rights.use { try ValueFileDraft(in: directory) }
  }

  /// Returns the space of unused pages to the file system.
  func reclaimSpace() {
    guard let open = current(checksIdentity: false) else { return }
    do {
      // An old snapshot would keep the checkpoint below from truncating the log.
      open.endSnapshots()
      try open.write { connection in
        connection.setBusyTimeout(CacheReader.lockTimeout)
        defer { connection.setBusyTimeout(0) }
        try vacuum(connection)
        _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
      }
    } catch {
      handle(error, open)
    }
  }

  /// Rebuilds the database from its contents, all of which go through the log. So only a small rest
  /// is rebuilt.
  private func vacuum(_ connection: SQLiteConnection) throws {
    let all = try connection.integer("PRAGMA page_count") ?? 0
    let free = try connection.integer("PRAGMA freelist_count") ?? 0
    // Another process may have filled the cache again by now.
    guard free > 0, all - free <= Self.vacuumLimit else { return }
    // The copy is no longer than the limit, and a full disk has no space for it.
    try connection.execute("PRAGMA temp_store = MEMORY")
    try connection.execute("VACUUM")
  }

  /// Handles an error of a value's file.
  func handle(_ error: any Error) {
    if let open = session.withLock({ $0.open }) { handle(error, open) }
  }

  /// Records a use of an entry in memory; a later set writes it down.
  ///
  /// Costs an atomic load for entries among the newest quarter, and a lock for others.
  func recordUse(_ stamp: Int64) {
    if stamp > recentUse.load(ordering: .relaxed) { return }
    // Relaxed: a use too many or too few only changes the order of eviction.
    uses.record(stamp)
  }

  /// Reports what has gone wrong. Called while no lock is held.
  func report() { problems.report() }

  private func change<Result: Sendable>(
    _ open: OpenDatabase, timeout: Duration? = nil, by origin: ChangeOrigin? = nil,
    _ body: (inout CacheTransaction) throws -> Result
  ) throws -> Result {
    try open.write { connection in
      try lock.withTransaction(on: connection, of: open, timeout: timeout) {
        try commit(connection, open, origin, body)
      }
    }
  }

  private func commit<Result>(
    _ connection: SQLiteConnection, _ open: OpenDatabase, _ origin: ChangeOrigin?,
    _ body: (inout CacheTransaction) throws -> Result
  ) throws -> Result {
    var transaction = try CacheTransaction(
      on: connection, hash: open.hash, limits: limits, now: WallClock.milliseconds(now()))
    let result: Result
    do {
      result = try body(&transaction)
      try transaction.finish()
      try connection.run("COMMIT")
    } catch {
      transaction.whenFailed?()
      throw error
    }
    // Before the lock is released: whoever sees the new data in SQLite also sees a new count. A
    // process that is killed between the commit and this line leaves others with outdated values in
    // memory until the next change (see ``ChangeCounter``).
    open.announceChange(by: origin)
    transaction.whenCommitted?()
    let state = transaction.state
    // No two entries have the same number, so at most a quarter of them are above this one.
    recentUse.store(state.sequence - Int64(state.count / 4), ordering: .relaxed)
    evictions.add(transaction.evictions, ordering: .relaxed)
    // After the commit: a process that is killed here leaves files without rows, which a sweep
    // removes, and no row without its file.
    for id in transaction.filesToRemove { removeFile(open.name(ofValue: id)) }
    return result
  }

  func removeFile(_ name: String) {
    // A missing file is fine. One that cannot be removed is removed by the sweep of the next
    // opening.
    try? directory.disk.remove(directory.path(ofValue: name))
  }

  // MARK: - Opening

  /// Returns the open file, opened if needed; nil while it cannot be opened.
  ///
  /// - Parameter checksIdentity: Whether to check at once if the path still leads to the open file,
  ///   which costs two `stat`s.
  private func current(checksIdentity: Bool) -> OpenDatabase? {
    // Before any lock is acquired: in the child of a fork, the thread that held it does not exist.
    guard forks == forkGeneration else {
      problems.enqueue(.unavailable, CacheFailure.inherited)
      return nil
    }
    let result: Result<OpenDatabase?, any Error> = session.withLock { session in
      Result { try current(&session, checksIdentity: checksIdentity) }
    }
    switch result {
    case .success(let open): return open
    case .failure(let error):
      problems.enqueue(.unavailable, error)
      return nil
    }
  }

  private func current(_ session: inout Session, checksIdentity: Bool) throws -> OpenDatabase? {
    let moment = ContinuousClock.now
    if let open = session.open, checksIdentity || moment >= session.nextIdentityCheck {
      session.nextIdentityCheck = moment + Self.retryInterval
      switch open.fate(in: directory) {
      case .current: break
      case .replaced:
        session.open = nil
        // At once: a directory that somebody has removed or replaced isn't a failure to wait after.
        session.nextOpening = moment
      case .cutOff:
        // The connection that writes has the first page in its cache, so it would commit to the log
        // what no reader can reach without that page.
        problems.enqueue(.damaged, SQLiteError.damaged("the cache's file was cut off"))
        close(open, asDamagedIn: &session)
      }
    }
    if let open = session.open { return open }
    guard moment >= session.nextOpening else { return nil }
    // Set before the attempt: if it throws, calls until then are misses, and don't each wait for
    // the disk.
    session.nextOpening = moment + retryInterval
    let open = try self.open(&session)
    session.open = open
    session.nextIdentityCheck = moment + Self.retryInterval
    return open
  }

  private func open(_ session: inout Session) throws -> OpenDatabase {
    guard !directory.path.isEmpty else { throw CacheFailure.invalidPath }
    let rights = try FileRights(at: directory.path, disk: directory.disk)
    // Everything below creates or removes files at names that the directory's owner controls.
    return try rights.use {
      // Before `withLock`, which locks the directory itself.
      if try directory.disk.status(at: directory.path) == nil {
        try directory.disk.makeDirectories(directory.path)
      }
      return try directory.withLock(wait: CacheDirectory.lockTimeout) {
        try open(&session, with: rights)
      }
    }
  }

  private func open(_ session: inout Session, with rights: FileRights) throws -> OpenDatabase {
    try directory.prepare(for: rights.user)
    if let damaged = session.damaged {
      // Another process may have replaced it by now.
      if damaged == directory.databaseIdentity { try recreate(&session, with: rights) }
      session.damaged = nil
    }
    // Stamps are positions in the file that was open before.
    uses.removeAll()
    do {
      return try openAndRepair(with: rights)
    } catch  where CacheFailure.isDamage(error) {
      problems.enqueue(.damaged, error)
      try recreate(&session, with: rights)
      return try openAndRepair(with: rights)
    }
  }

  private func recreate(_ session: inout Session, with rights: FileRights) throws {
    session.nextRecreation = ContinuousClock.now + retryInterval
    try directory.removeDatabase()
    try directory.prepare(for: rights.user)
  }

  /// Opens the file, removes what killed processes have left, and evicts entries if the limits are
  /// lower than the last time.
  private func openAndRepair(with rights: FileRights) throws -> OpenDatabase {
    let open = try OpenDatabase(directory, rights)
    do {
      try change(open, timeout: CacheDirectory.lockTimeout) { transaction in
        if open.isFirstOfBoot { try transaction.recount() }
        // Before rows go: a sweep removes files at once, and the commit may fail.
        try sweep(transaction, open)
        // After the recount: room is made by the counts.
        try transaction.makeRoom(forCount: 0, size: 0, uses)
      }
    } catch  where !CacheFailure.isDamage(error) {
      // Another process writes, or the disk is full. Existing entries can still be read.
    }
    return open
  }

  // MARK: - Problems

  /// Decides what an error means for the file, and enqueues a report.
  ///
  /// | error | file | next call |
  /// |---|---|---|
  /// | damage | closed, marked as damaged | recreates it, at most once in `retryInterval` |
  /// | full, locked, log too long | stays open | works on |
  /// | any other | closed | opens it again after `retryInterval` |
  private func handle(_ error: any Error, _ open: OpenDatabase) {
    let kind = (error as? SQLiteError)?.kind
    switch kind {
    case _ where CacheFailure.isDamage(error):
      problems.enqueue(.damaged, error)
      session.withLock { session in
        if session.open === open { close(open, asDamagedIn: &session) }
      }
    case .full: problems.enqueue(.full, error)
    case .locked: problems.enqueue(.locked, error)
    default:
      if (error as? FileError)?.code == .noSpace { return problems.enqueue(.full, error) }
      if error is CacheFailure { return problems.enqueue(.locked, error) }
      problems.enqueue(.unavailable, error)
      session.withLock { if $0.open === open { $0.open = nil } }
    }
  }

  /// Has the next opening replace the file.
  private func close(_ open: OpenDatabase, asDamagedIn session: inout Session) {
    session.open = nil
    session.damaged = open.identity
    // At once, but not again and again on a disk where each new file turns out to be damaged, too.
    session.nextOpening = session.nextRecreation
  }
}

// MARK: - Uses that are not written down

/// The uses of entries that were not written to the database yet, in the order of use.
///
/// The database is ordered by the last use (LRU), and a use would cost each get a transaction. So a
/// get only records it here, and each set writes down a few uses. Before an entry is evicted, its
/// record is looked up here, so that an entry used by this process is not evicted for lack of a
/// transaction. Uses that other processes have not written down yet don't count.
final class RecencyLog: Sendable {
  /// The number of uses that are kept when the log is compacted, which happens at twice as many. 24
  /// bytes each.
  static let capacity = 16_384
  /// The maximum number of uses that one set writes down, at some 10 us each.
  static let usesPerSet = 16

  private let uses = Mutex(Uses())

  /// Records that the entry with a stamp was used.
  func record(_ stamp: Int64) { uses.withLock { $0.record(stamp) } }

  /// Removes a stamp, and returns whether the entry was used.
  func remove(_ stamp: Int64) -> Bool { uses.withLock { $0.remove(stamp) } }

  /// Removes the oldest uses, and returns their stamps.
  func takeOldest(_ limit: Int = usesPerSet) -> [Int64] { uses.withLock { $0.takeOldest(limit) } }

  func removeAll() { uses.withLock { $0 = Uses() } }
}

private struct Uses {
  /// The stamp of an entry's last use that is written down, and the index in `order` of its newest
  /// use.
  private var positions: [Int64: Int] = [:]
  /// Stamps in the order of use. An entry that was used again appears twice; the index that
  /// `positions` doesn't have is void.
  private var order: [Int64] = []
  private var start = 0

  mutating func record(_ stamp: Int64) {
    if order.last == stamp { return }
    // At twice the capacity, so that compacting costs constant time for each use.
    if order.count >= 2 * RecencyLog.capacity { compact() }
    positions[stamp] = order.count
    order.append(stamp)
  }

  mutating func remove(_ stamp: Int64) -> Bool { positions.removeValue(forKey: stamp) != nil }

  mutating func takeOldest(_ limit: Int) -> [Int64] {
    var taken: [Int64] = []
    while taken.count < limit, start < order.count {
      let stamp = order[start]
      // Otherwise the entry was used again later, or its use was taken out: this index is void.
      if positions[stamp] == start {
        positions[stamp] = nil
        taken.append(stamp)
      }
      start += 1
    }
    if start == order.count {
      order.removeAll(keepingCapacity: true)
      start = 0
    }
    return taken
  }

  private mutating func compact() {
    let used = order.indices.dropFirst(start).filter { positions[order[$0]] == $0 }
    order = used.suffix(RecencyLog.capacity).map { order[$0] }
    start = 0
    positions = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
  }
}
