import Foundation
import SteadFiles
import SteadSQLite

/// SQLite's write transaction on a store's file, one after the other: what is checked and compared as it begins, and how
/// it commits.
///
/// Used under the lock of the ``StoreWriter`` that owns it, which nests transactions in it.
///
/// Invariant: while `committedVersion` is the file's version, `newest` is the file's last commit, and the triggers and
/// the models have been compared: nobody else has written since.
final class FileTransaction {
  /// The only connection that writes.
  let connection: StoreConnection
  private let historian: HistoryWriter
  private let file: StoreFile
  private let log: CommitLog
  /// Finds out whether another program has migrated the store since it was opened.
  private let models: StoredModels
  private var configuration: ModelConfiguration { file.configuration }
  /// Whether the database is memory, which only this connection sees.
  private let isInMemory: Bool
  /// The last commit that the open transaction has, its own ones included.
  private(set) var newest = CommitLog.Point(number: 0, stamp: 0)
  /// Whether the open transaction's commit survives a loss of power.
  private(set) var syncsCommit = false
  /// The version of the file after this connection's last commit. While it is unchanged, no other process has written,
  /// and what is known about the file is true.
  private var committedVersion: UInt32?

  init(
    _ connection: StoreConnection, _ historian: HistoryWriter, _ file: StoreFile, _ log: CommitLog,
    _ models: StoredModels
  ) {
    (self.connection, self.historian, self.file) = (connection, historian, file)
    (self.log, self.models) = (log, models)
    isInMemory = file.configuration.isStoredInMemoryOnly
  }

  /// Reads what is known of the file from now on: its last commit, its triggers and the version of its tables.
  ///
  /// - Returns: The last commit.
  func didOpen() throws -> CommitLog.Point {
    let last = try connection.lastCommit()
    log.didCommit(last)
    // Another process's commit, which another container's watcher has not checked for yet.
    if log.tell(last.number) { log.notify() }
    // Also reads the schema version, with which `models` compares from now on.
    if configuration.allowsSave || isInMemory { try historian.prepareTriggers() }
    if !isInMemory, let version = historian.schemaVersion { models.didOpen(version) }
    return last
  }

  // MARK: Beginning

  /// Begins a transaction that sees the newest rows; ``end()`` is called after it, and also if this throws.
  ///
  /// If it returns, no other program has written since the rows that the connection sees, and `newest`, the triggers
  /// and the models were compared with the file if one had.
  func begin(isDurable: Bool) throws {
    // Before the file can change: a reader that compares the counts must not take this transaction's change for
    // another program's.
    log.transactionBegins()
    syncsCommit = isDurable && !isInMemory
    // SQLite refuses a change of this setting within a transaction.
    if syncsCommit { try connection.execute("PRAGMA synchronous = FULL") }
    try beginWriting()
    if committedVersion == nil || connection.dataVersion != committedVersion {
      newest = try connection.lastCommit().checked()
      log.look(connection, newest.number)
      // The other program's rows may have the numbers that would be given out next.
      connection.nextRows = [:]
      // Another program may have made or dropped triggers.
      try historian.prepareTriggers()
      // A store in memory has no other programs.
      if !isInMemory, let version = historian.schemaVersion {
        try models.checkWriting(connection, version: version)
      }
    }
    // The commit sets it again. After a rollback, nothing is known about the file.
    committedVersion = nil
  }

  /// Runs a body in a transaction for work that changes no object, and commits it without a number.
  func maintain<Result>(_ body: (StoreConnection) throws -> Result) throws -> Result {
    log.transactionBegins()
    defer { log.transactionEnds() }
    do {
      try beginWriting()
      // Nothing is written to a store whose next commit would be refused.
      _ = try connection.lastCommit().checked()
      let result = try body(connection)
      try checkPlace()
      // Memory has no other programs, whose changes would have to be told from this one.
      isInMemory ? try connection.commit() : try commitQuietly()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Begins SQLite's write transaction, of the file that is at the store's path, and marks the file if it has to be
  /// marked.
  ///
  /// - Throws: `storeLocked` after ``RecordStore/lockTimeout``, and `unreadableStore` if another file is at the
  ///   path.
  private func beginWriting() throws {
    // IMMEDIATE: a transaction that reads first fails with SQLITE_BUSY_SNAPSHOT when it then writes
    // after another connection's commit.
    try connection.beginImmediate()
    if isInMemory { return }
    // Before anything is written to the file, or to the directory at its path.
    try checkPlace()
    guard connection.hasWholeLog else {
      // The file is all that is left, and a checkpoint would damage it.
      connection.keepLog()
      throw file.removedLog
    }
    let header = connection.fileHeader
    guard header.isWhole || file.isComplete else { throw file.truncation }
    // A copy that a migration works on keeps the names of the store, whose place its pages take.
    try connection.markFile(
      header, namesLog: configuration.migration == .none, committing: commitQuietly
    ) {
      OpenStores.endSnapshots(of: log)
    }
  }

  /// Throws when the file that is open isn't at the store's path any more: nobody would find the commit, and the large values
  /// at the path may be another store's. Any thread may ask.
  func checkPlace() throws { if connection.hasMoved { throw file.displacement } }

  // MARK: Ending

  /// Writes the row of the next commit to the history, in the open transaction, and returns its number.
  func writeCommit() throws -> Int64 {
    newest = try historian.write(after: newest)
    return newest.number
  }

  /// Commits.
  ///
  /// - Parameter isQuiet: Whether no row has changed, so that the commits' number stays.
  func commit(isQuiet: Bool) throws {
    // Again, since the file may have been replaced while the transaction was open.
    try checkPlace()
    if isQuiet {
      try commitQuietly()
    } else {
      try log.commit(connection, as: newest.number, connection.commit)
    }
    // Without a version the triggers are looked at before the next transaction.
    committedVersion = historian.schemaVersion == nil ? nil : connection.dataVersion
  }

  /// Commits what changes neither an object nor the commits' number.
  private func commitQuietly() throws { try log.commitQuietly(connection, connection.commit) }

  /// Rolls back all of it, unless SQLite has done that itself, as it does after some errors.
  func rollBack() {
    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
  }

  /// Has the next transaction look at the triggers again: a rollback has removed temporary ones that were made within it.
  func invalidateTriggers() { historian.invalidateTriggers() }

  /// Rolls back a savepoint, with the rows of the commits within it.
  func rollBack(to savepoint: String) {
    try? connection.execute("ROLLBACK TO \(savepoint)")
    // ROLLBACK TO leaves the savepoint open.
    try? connection.execute("RELEASE \(savepoint)")
    // The rows of the commits within it are gone from the history.
    newest = (try? connection.lastCommit()) ?? newest
    connection.nextRows = [:]
  }

  /// Ends what was begun with a transaction, after its commit or rollback.
  func end() {
    log.transactionEnds()
    guard syncsCommit else { return }
    syncsCommit = false
    // A connection that syncs more often than it must is slower, but no less correct.
    try? connection.execute("PRAGMA synchronous = NORMAL")
  }

  /// Lets the file's triggers record what the open transaction changes, for work that changes rows by SQL of its own.
  func noteByTriggers(by author: String?) throws {
    try historian.useTriggers()
    connection.changes.author = author
  }

  /// Makes a durable commit's file found after a loss of power: a newly created one is once its directory is synced.
  ///
  /// Only reports an error, since the commit is made.
  func syncDirectory() {
    let directory = configuration.url.deletingLastPathComponent().path
    do {
      try POSIXDisk().syncDirectory(directory)
    } catch {
      Report.problem("The directory \(directory) could not be synced: \(error)")
    }
  }
}

// MARK: - Publication

/// The commits within the open write transaction of a store, on their way to the contexts of this process.
///
/// Invariant: their numbers rise. They are in the log before a reader can see them, and are retracted if they are rolled
/// back. Contexts are notified once the store's lock was released, so that one whose turn begins at once does not wait
/// for it.
///
/// Used under the store's write lock; an ``Announcement`` without it.
struct CommitPublication {
  private let log: CommitLog
  /// The numbers of the commits, each of which is retracted if it is rolled back.
  private var numbers: [Int64] = []

  init(_ log: CommitLog) { self.log = log }

  /// How many commits there are.
  var count: Int { numbers.count }
  /// Whether there are none, so that no row has changed.
  var isEmpty: Bool { numbers.isEmpty }

  /// Puts a commit in the log, before it becomes visible: a reader that sees it finds its rows there.
  ///
  /// - Parameters:
  ///   - author: The context that wrote, which needs no news of its own rows; nil if it was none.
  ///   - rows: The written rows; nil if any row may have changed.
  mutating func post(_ number: Int64, from author: ObjectIdentifier?, rows: CommitLog.Rows?) {
    log.post(number, from: author, rows: rows)
    numbers.append(number)
  }

  /// Retracts the last commit, whose author learns by an error that it was not made.
  mutating func retractLast() { log.retract(numbers.removeLast()) }

  /// Retracts the commits within a transaction that was rolled back, the last ones first.
  ///
  /// - Parameter place: How many there were when it began.
  mutating func retract(from place: Int) {
    guard place < numbers.count else { return }
    // Backwards, since the log searches from its end.
    for number in numbers[place...].reversed() { log.retract(number) }
    numbers.removeSubrange(place...)
    // Their authors take their objects for saved: what they have is read again, by everybody.
    log.noteOutsider()
  }

  /// Forgets the commits of a transaction that has ended.
  mutating func removeAll() { numbers = [] }

  /// What contexts are told once the transaction is committed and its lock released.
  ///
  /// - Parameters:
  ///   - newest: The last commit.
  ///   - author: The context that has made it.
  func announcement(of newest: CommitLog.Point, from author: ObjectIdentifier?) -> Announcement {
    Announcement(log: log, newest: newest, author: author, isOfSeveral: numbers.count > 1)
  }

  /// The news of a transaction that was committed.
  struct Announcement {
    fileprivate let log: CommitLog
    fileprivate let newest: CommitLog.Point
    fileprivate let author: ObjectIdentifier?
    fileprivate let isOfSeveral: Bool

    /// Raises what the log knows, and asks the other contexts to look. Called without the store's lock.
    func send() {
      log.didCommit(newest)
      // The watcher of the file reports this commit, too, which then need not be announced again.
      log.tell(newest.number)
      if isOfSeveral || log.hasSeveralContexts { log.notify(from: author) }
    }
  }
}
