import Foundation
import SteadFiles
import SteadSQLite
import Synchronization

/// One SQLite file: a connection that writes, and as many reading connections as are needed at once.
///
/// A write transaction belongs to the thread that has begun it. It holds `writing` from `begin` to its end, so that
/// other threads wait in that lock, and only other connections in SQLite's. A transaction within another one of the
/// thread is a savepoint.
///
/// Invariants:
///
/// - `depth` is the number of open transactions, each of which has locked `writing` once. `outer` has an entry for
///   each but the innermost.
/// - `posted` has the numbers of the commits within the open transaction, in rising order. They are in the log before
///   a reader can see them, and are retracted if they are rolled back.
/// - While `committedVersion` is the file's version, `newest` is the file's last commit, and the triggers and the
///   models have been compared: nobody else has written since.
///
/// A thread takes `writing` first, in the order of the stores if it saves to several, then SQLite's
/// write lock of the file. Under both it takes the short locks of `CommitLog` and `OpenStores`.
/// Nobody takes `writing` while holding one of these.
final class RecordStore: @unchecked Sendable {
  // Sendable: `writer`, `historian`, what is `private var`, `number` and `hasInnerWork` are only used under `writing`,
  // and the rest is immutable or has its own lock. Any thread may ask the writer whether its file has moved.

  /// How long a write waits for other processes, in seconds.
  static let lockTimeout = 60

  /// The identifier that a store got when it was made. Its copies have the same.
  struct Identity: Hashable, Sendable {
    let identifier: String
  }

  /// The state of a transaction while another one is open within it.
  ///
  /// If the inner one is rolled back, all of it is restored. If it commits, only `changes` is: the
  /// inner commits and the inner work then belong to this transaction.
  private struct Outer {
    let changes: ChangeList
    let postedCount: Int
    let hasInnerWork: Bool
  }

  /// The store's identifier; for the mirror of a custom store that store's own.
  let identity: Identity
  /// What opening the store has changed in it; nil if its tables already matched the models.
  let migration: StoreMigration?
  /// The entities of the container, of which this store may hold only some.
  let layout: StoreLayout
  /// The configuration that the store was opened with.
  let configuration: ModelConfiguration
  /// The files of large values; nil in memory, where the rows have them.
  let blobs: BlobFiles?
  /// The plans of the entities that this store holds, by entity index.
  let plans: [EntityPlans.LazyPlan?]
  /// The tables of the hierarchies that this store holds.
  let tables: [TableLayout]
  /// The file, or memory, and how connections to it are opened.
  let file: StoreFile
  /// The commits that contexts of this process have made to the file.
  let log: CommitLog
  /// The only connection that writes. Guarded by `writing`, except for `hasMoved`.
  private let writer: StoreConnection
  /// Recursive, since a thread nests transactions, and begins them within ``exclusively(_:)``.
  private let writing = NSRecursiveLock()
  /// How many transactions are open, one inside the other.
  private var depth = 0
  /// The numbers of the commits within the open transaction, which are retracted if it is rolled back.
  private var posted: [Int64] = []
  /// Whether the open transaction's commit survives a loss of power.
  private var syncsCommit = false
  /// The last commit that the open transaction has, its own ones included.
  private var newest = CommitLog.Point(number: 0, stamp: 0)
  /// The number of that commit.
  var number: Int64 { newest.number }
  /// The transactions around the innermost one.
  private var outer: [Outer] = []
  /// Whether the innermost transaction has work of transactions within it, which its end must not take back.
  private(set) var hasInnerWork = false
  /// Writes the history of this process's commits.
  private let historian: HistoryWriter
  /// The version of the file after this connection's last commit. While it is unchanged, no other process has written,
  /// and what is known about the file is true.
  private var committedVersion: UInt32?
  /// The last commit after which removing from the history was due.
  private var trimmedNumber: Int64 = 0
  /// Whether ``trimIfDue()`` has something to do. Set under `writing`, and asked without it.
  private let trimmingIsDue = Atomic<Bool>(false)
  /// Finds out whether another program has migrated the store since it was opened.
  private let models: StoredModels
  /// The thread whose transaction is open, or 0.
  private let writingThread = Atomic<UInt>(0)
  /// The connections that read. Memory, and a transaction's own thread, use the writer instead.
  private let readers: ReaderPool
  /// Whether the database is memory, which only `writer` sees.
  private let isInMemory: Bool
  /// Whether saves here go into the history.
  var keepsHistory: Bool { configuration.history != .off }

  /// Opens or creates the store, and brings its tables up to the models.
  ///
  /// Invariant: if it throws, the store's tables and rows are as they were. So the file is checked first, the tables
  /// are prepared in one transaction, and a log that was there is not moved into the file by the connection that is
  /// closed.
  ///
  /// - Parameters:
  ///   - mirrored: The identifier of the store whose objects this in-memory store holds a copy of.
  ///   - report: Called with the progress of the migration that the store may need.
  /// - Throws: `unreadableStore` if the file is no store or damaged, `unknownSchema` or `loadIssueModelContainer` if
  ///   the models cannot read it, and other errors of opening it.
  init(
    configuration: ModelConfiguration, layout: StoreLayout, entities: Set<Int>,
    mirroring mirrored: String? = nil, report: MigrationReporter = MigrationReporter()
  ) throws {
    self.configuration = configuration
    self.layout = layout
    // Before any connection: how the file can be read decides which path is opened, and SQLite
    // creates files beside whatever it opens.
    var file = StoreFile(configuration)
    try file.chooseReading()
    try file.check()
    self.file = file
    let isWritable = configuration.allowsSave || configuration.isStoredInMemoryOnly
    writer = try file.open(writable: isWritable)
    // Until the store is open: the last connection to close would checkpoint the log into the file, which must stay as
    // it is if this throws.
    let hadLog = file.hasLog
    if hadLog { writer.keepLog() }
    // Sorted, because `entities` is a set and the digest of the tables depends on their order.
    let roots = Set(entities.map { layout.entities[$0].rootIndex }).sorted()
    let tables = roots.map { TableLayout(root: layout.entities[$0], layout: layout) }
    self.tables = tables
    let blobs =
      configuration.isStoredInMemoryOnly ? nil : BlobFiles(directory: file.blobDirectory)
    self.blobs = blobs
    var preparation = StorePreparation(
      writer, layout, tables: tables, entities: entities, allowsSave: isWritable, blobs: blobs,
      file: file, report: report,
      // Nobody else writes to memory, so it needs no triggers that record other programs' changes.
      keepsHistory: configuration.history != .off && !configuration.isStoredInMemoryOnly,
      keepsOldRows: configuration.history.keepsOldRows, isMirror: mirrored != nil)
    historian = HistoryWriter(writer, configuration, layout, entities)
    let identity: Identity
    do {
      identity = Identity(identifier: try preparation.run())
    } catch {
      // Another process may have made one.
      if file.hasLog { writer.keepLog() }
      throw error
    }
    self.identity = mirrored.map { Identity(identifier: $0) } ?? identity
    writer.numbersRowsByKey = mirrored != nil
    migration = preparation.migration
    let tableByName = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) })
    // Lazily made: most programs use few of their models at first.
    plans = layout.entities.map { [identity = self.identity] entity in
      guard entities.contains(entity.index), let table = tableByName[entity.table] else {
        return nil
      }
      return EntityPlans.LazyPlan(entity, table, identity)
    }
    // Not by `self.identity`: the mirrors of two containers share that, but not their commits.
    log = CommitLog.of(try CommitLog.name(identity, configuration))
    models = StoredModels(layout)
    readers = ReaderPool(file, log, models)
    isInMemory = configuration.isStoredInMemoryOnly
    let last = try writer.lastCommit()
    trimmedNumber = last.number
    log.didCommit(last)
    // Another process's commit, which another container's watcher has not checked for yet.
    if log.tell(last.number) { log.notify() }
    // Also reads the schema version, with which `models` compares from now on.
    if isWritable { try historian.prepareTriggers() }
    if !isInMemory, let version = historian.schemaVersion { models.didOpen(version) }
    // From now on, what other programs change is theirs.
    _ = resolveDoubt()
    if hadLog { writer.keepLog(false) }
    // A read-only connection cannot checkpoint, and memory has no log.
    if configuration.allowsSave, !configuration.isStoredInMemoryOnly { OpenStores.add(self) }
  }

  deinit {
    // False for a store that was never added, and in a forked child, which must leave its parent's
    // connections alone.
    guard OpenStores.remove(self) else { return }
    // The writer is closed last: a connection that only reads cannot move the log into the file.
    readers.close()
    // SQLite does so when the last connection of all processes is closed, and here other processes may go on.
    if OpenStores.isClosed(log) { moveLog(busyTimeout: 0) }
  }

  /// Moves the log into the file, unless one of the two was damaged: see ``SQLiteConnection/hasWholeLog``. Pages behind the
  /// end of a file that was cut short would make it look whole.
  private func moveLog(busyTimeout: Int32) {
    guard writer.hasWholeLog, writer.fileHeader.isWhole || file.isComplete else {
      return writer.keepLog()
    }
    _ = try? writer.checkpoint(.emptying, busyTimeout: busyTimeout)
  }

  // MARK: Writing

  /// Runs a body in one write transaction; it is rolled back when the body throws.
  ///
  /// All contexts then take every row as changed.
  ///
  /// - Parameter isDurable: Whether the commit survives a loss of power when this returns, which costs
  ///   a sync of the disk. Within another transaction it is that one's.
  func write<Result>(
    isDurable: Bool = false, _ body: (StoreConnection) throws -> Result
  ) throws -> Result {
    let connection = try begin(isDurable: isDurable)
    let result: Result
    do {
      result = try body(connection)
    } catch {
      rollBack()
      throw error
    }
    // Outside of the `do`: a commit that fails has rolled back. A second rollback would end the
    // transaction around this one.
    try commit(from: nil, rows: nil)
    trimIfDue()
    return result
  }

  /// Takes the write lock, and begins a transaction that sees the newest rows; ``commit(from:rows:)`` or
  /// ``rollBack()`` ends it, on the same thread.
  ///
  /// Within another transaction of the thread it is a savepoint, and part of that one. Waits for other threads
  /// without a limit, and for other connections to the file for ``lockTimeout``.
  ///
  /// Invariant: if it throws, the lock is released, and no transaction is open that was not before. If it returns, no
  /// other program has written since the rows that the connection sees, and `newest`, the triggers and the models
  /// were compared with the file if one had.
  ///
  /// ```swift
  /// let connection = try store.begin()
  /// do {
  ///   try change(connection)
  /// } catch {
  ///   store.rollBack()
  ///   throw error
  /// }
  /// try store.commit(from: nil, rows: rows)  // rolls back if it throws
  /// ```
  ///
  /// - Throws: `readOnlyStore` for a store opened with `allowsSave: false`; `unknownSchema` if the store was migrated
  ///   since it was opened; `unreadableStore` if another file is at its path, or its numbers are used up; SQLite's
  ///   errors.
  func begin(isDurable: Bool = false) throws -> StoreConnection {
    guard configuration.allowsSave else { throw file.refusal }
    writing.lock()
    do {
      if depth > 0 {
        // Named by the depth, by which RELEASE and ROLLBACK TO find it.
        try writer.execute("SAVEPOINT stead_\(depth)")
        outer.append(
          Outer(changes: writer.changes, postedCount: posted.count, hasInnerWork: hasInnerWork))
      } else {
        // Before the file can change: a reader that compares the counts must not take this transaction's change for
        // another program's.
        log.transactionBegins()
        syncsCommit = isDurable && !configuration.isStoredInMemoryOnly
        // SQLite refuses a change of this setting within a transaction.
        if syncsCommit { try writer.execute("PRAGMA synchronous = FULL") }
        try beginWriting()
        if committedVersion == nil || writer.dataVersion != committedVersion {
          newest = try writer.lastCommit().checked()
          log.look(writer, newest.number)
          // The other program's rows may have the numbers that would be given out next.
          writer.nextRows = [:]
          // Another program may have made or dropped triggers.
          try historian.prepareTriggers()
          // A store in memory has no other programs.
          if !isInMemory, let version = historian.schemaVersion {
            try models.checkWriting(writer, version: version)
          }
        }
        // The commit sets it again. After a rollback, nothing is known about the file.
        committedVersion = nil
        writingThread.store(CurrentThread.number, ordering: .releasing)
      }
      // A savepoint has changes of its own, which its commit writes.
      writer.changes = ChangeList()
      hasInnerWork = false
      // Last, since the `catch` tells by it whether the outermost transaction has begun.
      depth += 1
    } catch {
      if depth == 0 {
        if writer.isInTransaction { try? writer.execute("ROLLBACK") }
        log.transactionEnds()
        endSync()
      }
      writing.unlock()
      throw error
    }
    return writer
  }

  /// Begins SQLite's write transaction, of the file that is at the store's path, and marks the file if it has to be
  /// marked.
  ///
  /// - Throws: `storeLocked` after ``lockTimeout``, and `unreadableStore` if another file is at the
  ///   path.
  private func beginWriting() throws {
    // IMMEDIATE: a transaction that reads first fails with SQLITE_BUSY_SNAPSHOT when it then writes
    // after another connection's commit.
    try writer.beginImmediate()
    if isInMemory { return }
    // Before anything is written to the file, or to the directory at its path.
    try checkPlace()
    guard writer.hasWholeLog else {
      // The file is all that is left, and a checkpoint would damage it.
      writer.keepLog()
      throw file.removedLog
    }
    let header = writer.fileHeader
    guard header.isWhole || file.isComplete else { throw file.truncation }
    // A copy that a migration works on keeps the names of the store, whose place its pages take.
    try writer.markFile(
      header, namesLog: configuration.migration == .none, committing: commitQuietly
    ) {
      OpenStores.endSnapshots(of: log)
    }
  }

  /// Finds out whether another program has made a change that a reader cannot tell from this process's.
  ///
  /// - Returns: Whether that is known now; not while a transaction of this process is open, which may be what changes
  ///   the file.
  private func resolveDoubt() -> Bool {
    // Never waits: a reader would wait for a save. If the lock is taken, the doubt stays for the
    // reader's next snapshot.
    guard writing.try() else { return false }
    defer { writing.unlock() }
    return depth == 0 && !writer.isInTransaction && log.look(writer)
  }

  /// Commits what changes neither an object nor the commits' number.
  private func commitQuietly() throws { try log.commitQuietly(writer, writer.commit) }

  /// Throws when the file that is open isn't at the store's path any more: nobody would find the commit, and the large values
  /// at the path may be another store's.
  func checkPlace() throws { if writer.hasMoved { throw file.displacement } }

  /// Commits the innermost transaction; on an error it is rolled back.
  ///
  /// Invariant: other contexts learn of the commit exactly if it was made. Its rows are in the log before it is
  /// visible, and retracted if it is not made.
  ///
  /// - Parameters:
  ///   - author: The context that wrote, which needs no news of its own rows; nil if it was none.
  ///   - rows: The written rows; nil if any row may have changed.
  /// - Returns: The number of the commit.
  /// - Throws: `unreadableStore` if the file was replaced meanwhile or the numbers are used up, and
  ///   SQLite's errors, such as for a full disk.
  @discardableResult
  func commit(from author: ObjectIdentifier?, rows: CommitLog.Rows?) throws -> Int64 {
    // An error before the number is posted leaves nothing to retract.
    var isPosted = false
    do {
      // A writer that saved no objects may have used numbers.
      if author == nil { writer.nextRows = [:] }
      newest = try historian.write(after: newest)
      let number = newest.number
      // Before the commit becomes visible: a reader that sees it finds its rows in the log.
      log.post(number, from: author, rows: rows)
      posted.append(number)
      isPosted = true
      try close(from: author)
      return number
    } catch {
      // Nobody takes this one for committed.
      if isPosted { log.retract(posted.removeLast()) }
      rollBack()
      throw error
    }
  }

  /// Ends the innermost transaction, which has written nothing itself: commits what transactions within it have
  /// committed, or takes it back if there is no such work.
  func commitInnerWork() throws {
    guard hasInnerWork else { return rollBack() }
    do {
      try close(from: nil)
    } catch {
      rollBack()
      throw error
    }
  }

  /// Makes the innermost transaction part of the one around it, or ends the outermost one with a commit.
  ///
  /// Invariant: the lock is released once if this returns, and kept if it throws, for the caller to roll back.
  /// Contexts are notified after the lock was released, so that one whose turn begins at once does not wait for it.
  private func close(from author: ObjectIdentifier?) throws {
    // A savepoint becomes durable and visible with the transaction around it, so nothing is
    // announced.
    if depth > 1 {
      try writer.execute("RELEASE stead_\(depth - 1)")
      writer.changes = outer.removeLast().changes
      hasInnerWork = true
      depth -= 1
      writing.unlock()
      return
    }
    // Again, since the file may have been replaced while the transaction was open.
    try checkPlace()
    if posted.isEmpty {
      // Only `maintain` has written: no row has changed, so the commits' number stays.
      try commitQuietly()
    } else {
      try log.commit(writer, as: number, writer.commit)
    }
    // Without a version the triggers are looked at before the next transaction.
    committedVersion = historian.schemaVersion == nil ? nil : writer.dataVersion
    if configuration.historyLimits != .none,
      // By quotients: other processes' commits have numbers, too, so a multiple may never be seen
      // here.
      number / HistoryTrimming.interval != trimmedNumber / HistoryTrimming.interval
    {
      trimmedNumber = number
      trimmingIsDue.store(true, ordering: .releasing)
    }
    // Read with the lock: another thread may begin a transaction as soon as it is released.
    let (numbers, isDurable, commit) = (posted, syncsCommit, newest)
    // The rows that refer to them are committed, so a later rollback must not remove these files.
    blobs?.keepWritten()
    depth = 0
    endLastTransaction()
    writing.unlock()
    log.didCommit(commit)
    // The watcher of the file reports this commit, too, which then need not be announced again.
    log.tell(commit.number)
    if numbers.count > 1 || log.hasSeveralContexts { log.notify(from: author) }
    // Only reported: a commit cannot be undone.
    if isDurable { syncDirectory() }
  }

  /// Rolls back the innermost transaction; does nothing if none is open.
  ///
  /// Invariant: afterwards the commits within it are in no log, and numbers of rows that it gave out are read again
  /// from the tables. Their authors have taken the objects of these commits for saved, so all contexts read
  /// everything again.
  ///
  /// After some errors, such as a full disk, SQLite has rolled back the outermost transaction with all savepoints
  /// itself. The calls that end the outer ones then find nothing to roll back.
  func rollBack() {
    guard depth > 0 else { return }
    // Of a savepoint, too, which may drop files of the outer transaction. Before a file is removed,
    // its rows are looked for.
    blobs?.dropWritten()
    if depth > 1, writer.isInTransaction {
      try? writer.execute("ROLLBACK TO stead_\(depth - 1)")
      // ROLLBACK TO leaves the savepoint open.
      try? writer.execute("RELEASE stead_\(depth - 1)")
      // The rows of the commits within it are gone from the history.
      newest = (try? writer.lastCommit()) ?? newest
      writer.nextRows = [:]
      let around = outer.removeLast()
      retractPosted(from: around.postedCount)
      (writer.changes, hasInnerWork) = (around.changes, around.hasInnerWork)
      depth -= 1
      writing.unlock()
      return
    }
    // SQLite rolls back automatically after some errors.
    if writer.isInTransaction { try? writer.execute("ROLLBACK") }
    retractPosted(from: 0)
    historian.invalidateTriggers()
    if let around = outer.popLast() { writer.changes = around.changes }
    hasInnerWork = false
    depth -= 1
    if depth == 0 { endLastTransaction() }
    writing.unlock()
  }

  /// Retracts the commits within a transaction that was rolled back, the last ones first.
  private func retractPosted(from place: Int) {
    guard place < posted.count else { return }
    // Backwards, since the log searches from its end.
    for number in posted[place...].reversed() { log.retract(number) }
    posted.removeSubrange(place...)
    // Their authors take their objects for saved: what they have is read again, by everybody.
    log.noteOutsider()
  }

  /// Whether the transaction that this thread has begun is still open: SQLite ends it after some errors.
  var isInTransaction: Bool { isWritingHere && writer.isInTransaction }

  /// Removes from the history what the configuration's limits do not keep.
  ///
  /// Does nothing without limits. Otherwise it is a write transaction, even if nothing exceeds
  /// them.
  func trimHistory() throws {
    let limits = configuration.historyLimits
    if limits == .none { return }
    try maintain { try HistoryTrimming(connection: $0, limits: limits).run() }
  }

  /// Trims the history if enough commits were made since the last time. Called when the save has released all stores:
  /// it waits for this one's lock.
  func trimIfDue() {
    guard !isWritingHere, trimmingIsDue.exchange(false, ordering: .acquiringAndReleasing) else {
      return
    }
    do {
      try trimHistory()
    } catch {
      // The save itself is done, and the next removal finds the same.
      Report.problem("The store's history could not be trimmed: \(error)")
    }
  }

  /// Ends what is kept for the outermost transaction. `writing` is still locked.
  private func endLastTransaction() {
    posted = []
    hasInnerWork = false
    writingThread.store(0, ordering: .releasing)
    log.transactionEnds()
    endSync()
  }

  /// Has the connection sync at checkpoints alone again, after a durable commit.
  private func endSync() {
    guard syncsCommit else { return }
    syncsCommit = false
    // A connection that syncs more often than it must is slower, but no less correct.
    try? writer.execute("PRAGMA synchronous = NORMAL")
  }

  /// A newly created file survives a power loss once its directory is synced.
  private func syncDirectory() {
    let directory = configuration.url.deletingLastPathComponent().path
    do {
      try POSIXDisk().syncDirectory(directory)
    } catch {
      Report.problem("The directory \(directory) could not be synced: \(error)")
    }
  }

  /// Runs a body in the transaction that this thread has open, without beginning one.
  ///
  /// - Throws: `readOnlyStore` or `storeFailure` if the thread has none.
  func joinTransaction<Result>(_ body: (StoreConnection) throws -> Result) throws -> Result {
    guard isWritingHere else {
      // The block of a transaction changed an object of a store that is not written.
      guard configuration.allowsSave else { throw file.refusal }
      throw SwiftDataError(.storeFailure, "The store's transaction was ended before it was used.")
    }
    return try body(writer)
  }

  /// Runs a body in a write transaction, for work that changes no object: no context reads a row again for it, and
  /// the commits' number stays.
  ///
  /// Within a transaction of this thread it is part of that one.
  func maintain<Result>(_ body: (StoreConnection) throws -> Result) throws -> Result {
    guard configuration.allowsSave else { throw file.refusal }
    writing.lock()
    defer { writing.unlock() }
    if depth > 0 {
      // The transaction around it may write nothing itself, and then ends without a commit of its own.
      hasInnerWork = true
      return try body(writer)
    }
    log.transactionBegins()
    defer { log.transactionEnds() }
    do {
      try beginWriting()
      // Nothing is written to a store whose next commit would be refused.
      _ = try writer.lastCommit().checked()
      let result = try body(writer)
      try checkPlace()
      // Memory has no other programs, whose changes would have to be told from this one.
      isInMemory ? try writer.commit() : try commitQuietly()
      return result
    } catch {
      if writer.isInTransaction { try? writer.execute("ROLLBACK") }
      throw error
    }
  }

  /// Runs a body while no other thread's transaction runs.
  func exclusively<Result>(_ body: () throws -> Result) rethrows -> Result {
    writing.lock()
    defer { writing.unlock() }
    return try body()
  }

  /// Runs a body while no thread of this process has a transaction open; saves wait.
  func alone<Result>(_ body: (StoreConnection) throws -> Result) throws -> Result {
    guard configuration.allowsSave else { throw file.refusal }
    return try exclusively {
      // The lock is recursive, so this thread's own transaction has to be looked for: SQLite
      // refuses VACUUM within one.
      guard depth == 0 else {
        throw SwiftDataError(
          .transactionOpen,
          "A store cannot be compacted, erased or restored within transaction(block:). Call it after the transaction."
        )
      }
      try checkPlace()
      return try body(writer)
    }
  }

  /// Lets the file's triggers record what the open transaction changes, for work that changes rows by SQL of its own.
  func noteByTriggers(by author: String?) throws {
    try historian.useTriggers()
    writer.changes.author = author
  }

  /// Writes a copy of what is committed to a new file.
  ///
  /// Costs reading and writing all pages. Others may read and write meanwhile.
  func copy(to path: String) throws {
    try read(.newest) { connection, _ in try connection.copy(to: path) { _, _ in } }
  }

  /// Whether this thread is within a transaction of this store, which it then reads, too.
  var isWritingHere: Bool {
    writingThread.load(ordering: .acquiring) == CurrentThread.number
  }

  // MARK: Reading

  /// Runs a body with a connection that sees one commit, and with that commit's number.
  ///
  /// In memory, and within a transaction of this thread, the body runs on the writer, under its
  /// lock. Otherwise it runs on a reader, which waits for no write.
  func read<Result>(
    _ freshness: ReaderPool.Freshness, _ body: (StoreConnection, _ number: Int64) throws -> Result
  ) throws -> Result {
    if isInMemory || isWritingHere {
      writing.lock()
      defer { writing.unlock() }
      // A database in memory is its one connection's. Within a transaction, only the writer sees what it has written.
      // Without a statement: the one connection has every commit of this process.
      if case .shared(let number) = freshness {
        return try body(writer, max(number, log.newestNumber))
      }
      return try body(writer, try writer.lastCommit().number)
    }
    return try readers.read(freshness, doubting: resolveDoubt, body)
  }

  // MARK: Closing

  /// How long the end of the process waits for transactions and readers that keep the log, in milliseconds.
  static let exitTimeout: Int32 = 200

  /// Ends the snapshots that no thread is reading.
  func endIdleSnapshots() { readers.endIdleSnapshots() }

  /// Moves the log into the file as the process ends, while its threads may still run.
  func emptyLogAtExit() {
    // They would keep the log from being emptied.
    readers.endIdleSnapshots()
    let limit = Date(timeIntervalSinceNow: Double(Self.exitTimeout) / 1000)
    // Not forever: the thread that has the lock may be waiting for this one.
    if writing.lock(before: limit) {
      defer { writing.unlock() }
      // The lock is recursive: `exit` may have been called within this thread's own transaction.
      if depth == 0 {
        moveLog(busyTimeout: Self.exitTimeout)
        return
      }
    }
    // A transaction is open, which ends with the process. What was committed before is moved by another connection.
    guard let connection = try? file.openAgain() else { return }
    // It has the file that is at the path now. The writer can't be asked for its own while the transaction uses it.
    guard let name = try? CommitLog.name(identity, configuration), CommitLog.of(name) === log else {
      return connection.keepLog()
    }
    guard connection.hasWholeLog, connection.fileHeader.isWhole || file.isComplete else {
      return connection.keepLog()
    }
    _ = try? connection.checkpoint(.emptying, busyTimeout: 0)
  }

  // MARK: Other processes

  /// Asks the listening contexts to look, if the store has a commit that they were not notified of.
  private func lookForCommits() {
    guard !configuration.isStoredInMemoryOnly else { return }
    let outsiderCount = log.outsiderCount
    do {
      // Reading records a change without a number, too, which raises `outsiderCount`.
      let number = try read(.newest) { $1 }
      if log.tell(number) || log.outsiderCount != outsiderCount { log.notify() }
    } catch {
      Report.problem("Other processes' changes could not be read from the store: \(error)")
    }
  }

  /// Starts watching the store's file for commits of other processes; once is enough.
  func watch() {
    guard !configuration.isStoredInMemoryOnly else { return }
    watching.lock()
    defer { watching.unlock() }
    guard watcher == nil else { return }
    // nil if the directory cannot be watched; the next call tries again.
    watcher = StoreWatcher(store: configuration.url) { [weak self] in self?.logChanged() }
  }

  /// Looks for commits of other processes after the log was written.
  ///
  /// Pages are written to the log before the commit is visible. So the look is repeated a little later, twice: once
  /// for a commit under way, once for one that waits for the disk. A write during these adds no further ones, but
  /// begins them again at their end.
  private func logChanged() {
    lookForCommits()
    // Of several threads only one schedules the looks. The others leave `again`, which repeats
    // them.
    if looking.exchange(Looking.again, ordering: .acquiringAndReleasing) == Looking.none {
      lookLater()
    }
  }

  /// Looks for commits 10 and 110 milliseconds from now, on a queue of the store.
  private func lookLater() {
    looking.store(Looking.later, ordering: .releasing)
    looks.call(after: .milliseconds(10)) { [weak self] in
      self?.lookForCommits()
      self?.looks.call(after: .milliseconds(100)) { [weak self] in
        guard let self else { return }
        // A write in the meantime starts its own two checks.
        let isWanted =
          looking.exchange(Looking.none, ordering: .acquiringAndReleasing) == Looking.again
        isWanted ? logChanged() : lookForCommits()
      }
    }
  }

  /// Whether looks at the log are scheduled, and whether it was written since they were.
  private enum Looking {
    static let none = 0
    /// Looks are scheduled.
    static let later = 1
    /// The log was written since that began.
    static let again = 2
  }
  /// The state of the looks, as ``Looking`` names it.
  private let looking = Atomic<Int>(Looking.none)
  /// Not timers of Dispatch's: the first one of a program ends it if no descriptor is free.
  private let looks = SerialCalls()

  /// Reports writes to the log; nil until ``watch()``. Guarded by `watching`.
  private var watcher: StoreWatcher?
  /// Guards `watcher`.
  private let watching = NSLock()
}

/// Identifies the calling thread.
enum CurrentThread {
  /// A number that no other running thread has; not 0.
  static var number: UInt {
    // A number or a pointer, by the system.
    withUnsafeBytes(of: pthread_self()) { $0.load(as: UInt.self) }
  }
}
