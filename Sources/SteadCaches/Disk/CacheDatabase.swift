import CSteadSQLite
import Foundation
import SteadFiles
import SteadSQLite
import Synchronization

/// A cache's file through all that can happen to it: opened when it is first used, made again when it is damaged,
/// opened again when another one is in its place.
final class CacheDatabase: Sendable {
  /// How long a set waits for another process that writes. After a wait in vain the next ones do not wait.
  static let lockPatience = Duration.milliseconds(500)
  /// How long a cache that cannot be opened returns misses before it tries to open again, and how long it trusts that
  /// the file was not replaced.
  static let retryInterval = Duration.seconds(1)
  /// The log's length in bytes from which nothing is stored until readers of an old state have finished.
  static let logLimit: Int64 = 32 << 20
  /// How many pages may be in use for free pages' space to be returned: 4 MB.
  private static let vacuumLimit: Int64 = 1_000
  /// How long a change sleeps before it tries again to get the lock, in microseconds; twice as long each time.
  private static let firstPause: useconds_t = 50

  private struct Session {
    var open: OpenDatabase?
    /// The file that was found to be damaged, and is removed at the next opening.
    var damaged: FileStatus.Identity?
    /// When an empty file may replace a damaged one the next time.
    var nextRemake = ContinuousClock.now
    var wasOpened = false
    var nextTry = ContinuousClock.now
    var nextLook = ContinuousClock.now
  }

  /// What the one thread that writes needs.
  private struct Writing {
    var patience = CacheDatabase.lockPatience
    /// Whether to wait for readers when the log is too long. After one wait in vain the next ones do not wait.
    var waitsForReaders = true
  }

  let directory: CacheDirectory
  let limits: DiskCache.Limits
  let now: @Sendable () -> Date
  private let retryInterval: Duration
  private let forks = forkGeneration
  private let session = Mutex(Session())
  private let writing = Mutex(Writing())
  let uses = RecencyLog()
  private let problems = ProblemQueue()
  /// Uses of entries that were used later than this need not be noted: they are among the newest.
  private let recentEnough = Atomic<Int64>(.max)
  let evictions = Atomic<Int>(0)
  /// How often a change has waited for other processes, with success or in vain.
  private let waits = Atomic<Int>(0)
  var waitCount: Int { waits.load(ordering: .relaxed) }

  init(
    _ directory: CacheDirectory, limits: DiskCache.Limits, now: @escaping @Sendable () -> Date,
    retryInterval: Duration
  ) {
    self.directory = directory
    self.limits = limits
    self.now = now
    self.retryInterval = retryInterval
  }

  deinit {
    guard forks == forkGeneration else { return }
    // Uses are written down, for programs that only read.
    let stamps = uses.takeOldest(RecencyLog.capacity)
    guard !stamps.isEmpty, let open = session.withLock({ $0.open }) else { return }
    try? change(open, patience: .zero) { transaction in
      for stamp in stamps { try transaction.restamp(stamp) }
    }
  }

  // MARK: - Reading and writing

  /// What a body reads; nil when the cache does not work now.
  func read<Result>(_ body: (CacheReader, OpenDatabase) throws -> Result) -> Result? {
    guard let open = current(looks: false) else { return nil }
    do {
      return try open.read { try body($0, open) }
    } catch {
      note(error, open)
      return nil
    }
  }

  /// Runs a body that changes the cache in a transaction; nil if the cache does not work now, and then nothing has
  /// changed.
  ///
  /// The body runs again, in the empty file that replaces the old one, if the old one turns out to be damaged.
  ///
  /// - Parameter origin: An object that already knows of the change.
  func write<Result: Sendable>(
    by origin: ChangeOrigin? = nil,
    _ body: (inout CacheTransaction, OpenDatabase) throws -> Result
  ) -> Result? {
    var isAgain = false
    while let open = current(looks: true) {
      do {
        return try change(open, by: origin) { try body(&$0, open) }
      } catch {
        note(error, open)
        guard Self.isDamage(error), !isAgain else { return nil }
        isAgain = true
      }
    }
    return nil
  }

  /// Runs a body that changes the cache in a transaction if no other process holds its lock, and the change doesn't
  /// matter much; returns false if it has failed.
  func writeWithoutWaiting(
    by origin: ChangeOrigin?, _ body: (inout CacheTransaction, OpenDatabase) throws -> Bool
  ) -> Bool {
    guard let open = current(looks: true) else { return false }
    do {
      return try change(open, patience: .zero, by: origin) { try body(&$0, open) }
    } catch {
      if Self.isDamage(error) { note(error, open) }
      return false
    }
  }

  /// The file's current version for an object whose own changes do not count; nil if it can't be determined.
  func token(for origin: ChangeOrigin) -> ChangeToken? { current(looks: false)?.token(for: origin) }

  /// Whether the file is open, or could be opened now.
  var canBeOpened: Bool { current(looks: true) != nil }

  /// A new value's file; nil when the cache does not work now.
  func makeDraft() throws -> ValueFileDraft? {
    guard let open = current(looks: true) else { return nil }
    return try open.rights.use { try ValueFileDraft(in: directory) }
  }

  /// Reclaims the space of unused pages.
  func giveBackRoom() {
    guard let open = current(looks: false) else { return }
    do {
      open.endSnapshots()
      try open.write { connection in
        connection.setLockPatience(CacheReader.lockPatience)
        defer { connection.setLockPatience(0) }
        try vacuum(connection)
        _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
      }
    } catch {
      note(error, open)
    }
  }

  /// Rebuilds the database from its contents, all of which go through the log.
  private func vacuum(_ connection: SQLiteConnection) throws {
    let all = try connection.integer("PRAGMA page_count") ?? 0
    let free = try connection.integer("PRAGMA freelist_count") ?? 0
    // Another process may have filled the cache again by now.
    guard free > 0, all - free <= Self.vacuumLimit else { return }
    // The copy is no longer than the limit, and a full disk has no space for it.
    try connection.execute("PRAGMA temp_store = MEMORY")
    try connection.execute("VACUUM")
  }

  /// Notes an error of the files of values.
  func note(_ error: any Error) {
    if let open = session.withLock({ $0.open }) { note(error, open) }
  }

  /// Notes that an entry was used.
  func noteUse(_ stamp: Int64) {
    if stamp > recentEnough.load(ordering: .relaxed) { return }
    uses.note(stamp)
  }

  /// Reports what has gone wrong. Called while no lock is held.
  func report() { problems.report() }

  private func change<Result: Sendable>(
    _ open: OpenDatabase, patience: Duration? = nil, by origin: ChangeOrigin? = nil,
    _ body: (inout CacheTransaction) throws -> Result
  ) throws -> Result {
    try open.write { connection in
      try writing.withLock { writing in
        try begin(connection, open, &writing, patience)
        do {
          return try commit(connection, open, origin, body)
        } catch {
          try? connection.run("ROLLBACK")
          throw error
        }
      }
    }
  }

  private func begin(
    _ connection: SQLiteConnection, _ open: OpenDatabase, _ writing: inout Writing,
    _ patience: Duration?
  ) throws {
    try checkLog(connection, open, &writing)
    let deadline = ContinuousClock.now + (patience ?? writing.patience)
    var pause = Self.firstPause
    while true {
      do {
        try connection.run("BEGIN IMMEDIATE")
        writing.patience = Self.lockPatience
        return
      } catch let error as SQLiteError where error.kind == .locked {
        guard ContinuousClock.now < deadline else {
          // A change that does not wait shows nothing about those that do.
          if patience == nil { writing.patience = .zero }
          throw error
        }
        if pause == Self.firstPause { waits.add(1, ordering: .relaxed) }
        // SQLite does not notify waiters when another process releases its lock.
        usleep(pause)
        pause = min(2 * pause, 2_000)
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
    open.noteChange(by: origin)
    transaction.whenCommitted?()
    let state = transaction.state
    recentEnough.store(state.sequence - Int64(state.count / 4), ordering: .relaxed)
    evictions.add(transaction.evictions, ordering: .relaxed)
    for id in transaction.filesToRemove { removeFile(open.name(ofValue: id)) }
    return result
  }

  func removeFile(_ name: String) {
    // A missing file is fine; one that cannot be removed is swept at the next opening.
    try? directory.disk.remove(directory.path(ofValue: name))
  }

  private var isLogTooLong: Bool {
    get throws {
      try directory.disk.status(at: directory.log).map { $0.size > Self.logLimit } ?? false
    }
  }

  /// Refuses to write to a log that has become too long because some process has stopped while it read.
  private func checkLog(
    _ connection: SQLiteConnection, _ open: OpenDatabase, _ writing: inout Writing
  ) throws {
    guard try isLogTooLong else { return }
    open.endSnapshots()
    if !writing.waitsForReaders {
      // The pages of the log, and how many of them are in the file, which is all of them once no reader needs an old
      // state.
      let counts = try connection.rows("PRAGMA wal_checkpoint(PASSIVE)").first?.dropFirst() ?? []
      guard counts.first == counts.last else { throw CacheFailure.logTooLong }
    }
    // A log that can be checkpointed is also truncated. Waits for readers.
    waits.add(1, ordering: .relaxed)
    connection.setLockPatience(CacheReader.lockPatience)
    defer { connection.setLockPatience(0) }
    _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    writing.waitsForReaders = try !isLogTooLong
    if !writing.waitsForReaders { throw CacheFailure.logTooLong }
  }

  // MARK: - Opening

  /// The open file, opened if needed; nil while it cannot be.
  private func current(looks: Bool) -> OpenDatabase? {
    // Before any lock is acquired: in the child of a fork, the lock's owner may be gone.
    guard forks == forkGeneration else {
      problems.note(unavailable(CacheFailure.inherited))
      return nil
    }
    let result: Result<OpenDatabase?, any Error> = session.withLock { session in
      Result { try current(&session, looks: looks) }
    }
    switch result {
    case .success(let open): return open
    case .failure(let error):
      problems.note(unavailable(error))
      return nil
    }
  }

  private func current(_ session: inout Session, looks: Bool) throws -> OpenDatabase? {
    let moment = ContinuousClock.now
    if let open = session.open, looks || moment >= session.nextLook {
      session.nextLook = moment + Self.retryInterval
      if !open.isInPlace(in: directory) {
        session.open = nil
        session.nextTry = moment
      }
    }
    if let open = session.open { return open }
    guard moment >= session.nextTry else { return nil }
    session.nextTry = moment + retryInterval
    let open = try self.open(&session)
    session.open = open
    session.wasOpened = true
    session.nextLook = moment + Self.retryInterval
    return open
  }

  private func open(_ session: inout Session) throws -> OpenDatabase {
    guard !directory.path.isEmpty else { throw CacheFailure.invalidPlace }
    let rights = try FileRights(at: directory.path, disk: directory.disk)
    return try rights.use {
      if try directory.disk.status(at: directory.path) == nil {
        try directory.disk.makeDirectories(directory.path)
      }
      return try directory.withLock(wait: CacheDirectory.patience) {
        try open(&session, with: rights)
      }
    }
  }

  private func open(_ session: inout Session, with rights: FileRights) throws -> OpenDatabase {
    try directory.prepare(for: rights.user)
    if let damaged = session.damaged {
      // Another process may have done it by now.
      if damaged == directory.databaseIdentity { try remake(&session, with: rights) }
      session.damaged = nil
    }
    uses.removeAll()
    do {
      return try openInOrder(with: rights)
    } catch  where Self.isDamage(error) {
      problems.note(damaged(error))
      try remake(&session, with: rights)
      return try openInOrder(with: rights)
    }
  }

  private func remake(_ session: inout Session, with rights: FileRights) throws {
    session.nextRemake = ContinuousClock.now + retryInterval
    try directory.removeDatabase()
    try directory.prepare(for: rights.user)
  }

  /// Opens the file, takes away what killed processes have left, and keeps limits that are narrower than the last
  /// time.
  private func openInOrder(with rights: FileRights) throws -> OpenDatabase {
    let open = try OpenDatabase(directory, rights)
    do {
      try change(open, patience: CacheDirectory.patience) { transaction in
        if open.isFirstOfBoot { try transaction.recount() }
        try transaction.makeRoom(forCount: 0, size: 0, uses)
        try sweep(transaction, open)
      }
    } catch  where !Self.isDamage(error) {
      // Another process writes, or the disk is full. Existing entries can still be read.
    }
    return open
  }

  // MARK: - Problems

  /// Decides what an error means for the file.
  private func note(_ error: any Error, _ open: OpenDatabase) {
    let kind = (error as? SQLiteError)?.kind
    switch kind {
    case _ where Self.isDamage(error):
      problems.note(damaged(error))
      session.withLock { session in
        guard session.open === open else { return }
        session.open = nil
        session.damaged = open.identity
        // At once, but not again and again where each new file turns out to be damaged, too.
        session.nextTry = session.nextRemake
      }
    case .full: problems.note(full(error))
    case .locked: problems.note(locked(error))
    default:
      if (error as? FileError)?.code == .noSpace { return problems.note(full(error)) }
      if error is CacheFailure { return problems.note(locked(error)) }
      problems.note(unavailable(error))
      session.withLock { if $0.open === open { $0.open = nil } }
    }
  }

  private static func isDamage(_ error: any Error) -> Bool {
    guard let error = error as? SQLiteError else {
      return (error as? CacheFailure)?.description == CacheFailure.unknownFile.description
    }
    switch error.kind {
    // A statement that can't be prepared, or a constraint that doesn't hold, means other tables than ours.
    case .damaged, .constraint, .view: return true
    case .other: return error.code & 0xff == SQLITE_ERROR
    case .disk: return error.isOfShortFile  // A page that isn't there.
    default: return false
    }
  }

  private func problem(
    _ code: Stead.Problem.Code, _ message: String, _ error: any Error
  ) -> Stead.Problem {
    Stead.Problem(
      code: code, product: .caches, subject: directory.path, message: message, cause: error)
  }

  private func unavailable(_ error: any Error) -> Stead.Problem {
    problem(
      .cacheUnavailable, "The cache can't be used, and finds nothing until the cause is removed.",
      error)
  }

  private func damaged(_ error: any Error) -> Stead.Problem {
    problem(.cacheDamaged, "The cache's file can't be read; an empty one replaces it.", error)
  }

  private func full(_ error: any Error) -> Stead.Problem {
    problem(
      .cacheFull, "The disk is full, so nothing is stored; free some space on it.", error)
  }

  private func locked(_ error: any Error) -> Stead.Problem {
    problem(
      .cacheLocked,
      "Another process keeps the cache locked, so nothing is stored; let it continue, or end it.",
      error)
  }
}

/// Problems that wait until no lock is held; one of each code is reported.
private final class ProblemQueue: Sendable {
  private struct State {
    var waiting: [Stead.Problem] = []
    var known: Set<Stead.Problem.Code> = []
  }

  private let state = ForkSafeLock(State())
  private let hasSome = Atomic<Bool>(false)

  func note(_ problem: Stead.Problem) {
    state.withLock { state in
      if state.known.insert(problem.code).inserted { state.waiting.append(problem) }
    }
    hasSome.store(true, ordering: .releasing)
  }

  func report() {
    guard hasSome.exchange(false, ordering: .acquiring) else { return }
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for problem in waiting { Stead.report(problem) }
  }
}

// MARK: - Sweeping

extension CacheDatabase {
  /// Removes files of values that no entry has, and drafts whose writers are gone.
  ///
  /// Runs in a transaction, while no other process can give a file to an entry. Costs a listing of the files.
  func sweep(_ transaction: CacheTransaction, _ open: OpenDatabase) throws {
    for name in try directory.disk.names(in: directory.values) {
      if name.hasPrefix(ValueFileDraft.prefix) {
        ValueFileDraft.sweep(directory.path(ofValue: name), disk: directory.disk)
      } else if try !isOfAnEntry(name, transaction, open) {
        removeFile(name)
      }
    }
  }

  private func isOfAnEntry(
    _ name: String, _ transaction: CacheTransaction, _ open: OpenDatabase
  ) throws -> Bool {
    guard let digits = name.split(separator: "-").last, let id = Int64(digits),
      open.name(ofValue: id) == name
    else { return false }
    let found = try transaction.connection.integer(
      "SELECT id FROM contents WHERE id = ?", [.integer(id)])
    return found != nil
  }
}
