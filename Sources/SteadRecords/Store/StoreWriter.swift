import Foundation
import Synchronization

/// The lock of a store's writing connection, and the transactions that threads have open on it, one inside the other.
///
/// A write transaction belongs to the thread that has begun it. It holds `writing` from its beginning to its end, so
/// that other threads wait in that lock, and only other connections in SQLite's. A transaction within another one of
/// the thread is a savepoint.
///
/// Invariant: `depth` is the number of open transactions, each of which has locked `writing` once. `outer` has an entry
/// for each but the innermost.
///
/// A thread takes `writing` first, in the order of the stores if it saves to several, then SQLite's
/// write lock of the file. Under both it takes the short locks of `CommitLog` and `OpenStores`.
/// Nobody takes `writing` while holding one of these.
final class StoreWriter: @unchecked Sendable {
  // Sendable: `connection`, `transaction`, what is `private var` and `number` are only used under
  // `writing`, and the rest is immutable or has its own lock. Any thread may ask whether the file has moved, and have
  // its directory synced, which uses nothing that changes. `moveLog(busyTimeout:)` is called by the last owner alone.

  /// The state of a transaction while another one is open within it.
  ///
  /// If the inner one is rolled back, all of it is restored. If it commits, only `changes` is: the
  /// inner commits and the inner work then belong to this transaction.
  private struct Outer {
    let changes: ChangeList
    let postedCount: Int
    let hasInnerWork: Bool
  }

  private let configuration: ModelConfiguration
  private let file: StoreFile
  private let log: CommitLog
  /// The files of large values; nil in memory.
  private let blobs: BlobFiles?
  private let trimming: TrimmingSchedule
  private let connection: StoreConnection
  /// SQLite's transaction, in which all that are open are.
  private let transaction: FileTransaction
  /// Recursive, since a thread nests transactions, and begins them within ``exclusively(_:)``.
  private let writing = NSRecursiveLock()
  /// The thread whose transaction is open, or 0.
  private let writingThread = Atomic<UInt>(0)
  /// How many transactions are open, one inside the other.
  private var depth = 0
  /// The commits within the open transaction.
  private var publication: CommitPublication
  /// The transactions around the innermost one.
  private var outer: [Outer] = []
  /// Whether the innermost transaction has work of transactions within it.
  private var innerWork = false

  /// Takes over a connection; ``didOpen()`` is called before the first transaction.
  init(
    _ transaction: FileTransaction, _ file: StoreFile, _ log: CommitLog, _ blobs: BlobFiles?,
    _ trimming: TrimmingSchedule
  ) {
    (self.transaction, self.file, self.log) = (transaction, file, log)
    (self.blobs, self.trimming) = (blobs, trimming)
    connection = transaction.connection
    configuration = file.configuration
    publication = CommitPublication(log)
  }

  /// Reads what is known of the file from now on.
  func didOpen() throws {
    trimming.didOpen(at: try transaction.didOpen().number)
    // From now on, what other programs change is theirs.
    _ = resolveDoubt()
  }

  /// The number of the last commit that the open transaction has, its own ones included.
  var number: Int64 { transaction.newest.number }

  /// Whether this thread is within a transaction of this store, which it then reads, too.
  var isWritingHere: Bool {
    writingThread.load(ordering: .acquiring) == CurrentThread.number
  }

  /// Whether the transaction that this thread has begun is still open: SQLite ends it after some errors.
  var isInTransaction: Bool { isWritingHere && connection.isInTransaction }

  /// Whether this thread's innermost transaction has work of transactions within it, which its end must not take back.
  var hasInnerWork: Bool { isWritingHere && innerWork }

  /// How many transactions this thread has open, one inside the other.
  var level: Int { isWritingHere ? depth : 0 }

  /// ``FileTransaction/checkPlace()``
  func checkPlace() throws { try transaction.checkPlace() }

  // MARK: Transactions

  /// Takes the lock, and runs a body in a transaction that sees the newest rows. The body ends it with
  /// ``commit(from:rows:)``; otherwise it is rolled back, whether the body returns or throws.
  ///
  /// Within another transaction of the thread it is a savepoint, and part of that one. Waits for other threads
  /// without a limit, and for other connections to the file for ``RecordStore/lockTimeout``.
  ///
  /// The commit of the outermost transaction releases the lock, before contexts are notified. What the body does
  /// afterwards is in no transaction of this store. So a save to several stores nests their transactions, and commits them in the stores' order.
  ///
  /// ```swift
  /// try writer.transact { connection in
  ///   let rows = try change(connection)
  ///   try writer.commit(from: nil, rows: rows)
  /// }
  /// ```
  ///
  /// Invariant: when this returns or throws, no transaction is open that was not before, and the lock is held no
  /// further times.
  ///
  /// - Parameter isDurable: Whether the commit survives a loss of power when it returns, which costs a sync of the
  ///   disk. Within another transaction it is that one's.
  /// - Throws: `readOnlyStore` for a store opened with `allowsSave: false`; `unknownSchema` if the store was migrated
  ///   since it was opened; `unreadableStore` if another file is at its path, or its numbers are used up; SQLite's
  ///   errors; and what the body throws.
  func transact<Result>(
    isDurable: Bool = false, _ body: (StoreConnection) throws -> Result
  ) throws -> Result {
    try begin(isDurable: isDurable)
    let level = depth
    // Only a thread that is within a transaction may read `depth`: the lock may be another one's by now.
    defer { while isWritingHere, depth >= level { rollBack() } }
    return try body(connection)
  }

  /// Begins a transaction again that was ended within the body of ``transact(isDurable:_:)``, which ends the new one,
  /// too. Only for the block of a program's transaction, in which a save commits and the block then goes on.
  ///
  /// Takes no closure, since the rest of the block cannot be one. Nor is the lock kept in between: with several stores a
  /// thread has to release all before it takes the first again, or two threads wait for each other.
  ///
  /// - Throws: What ``transact(isDurable:_:)`` throws. The rest of the body then runs without a transaction of its own.
  func resume() throws -> StoreConnection {
    try begin(isDurable: false)
    return connection
  }

  /// Takes the lock, and begins a transaction; if it throws, the lock is released, and no transaction is open that was
  /// not before.
  private func begin(isDurable: Bool) throws {
    guard configuration.allowsSave else { throw file.refusal }
    writing.lock()
    do {
      if depth > 0 {
        try checkTransaction()
        try connection.execute("SAVEPOINT \(Self.savepoint(depth))")
        outer.append(
          Outer(
            changes: connection.changes, postedCount: publication.count, hasInnerWork: innerWork)
        )
      } else {
        try transaction.begin(isDurable: isDurable)
        writingThread.store(CurrentThread.number, ordering: .releasing)
      }
      // A savepoint has changes of its own, which its commit writes.
      connection.changes = ChangeList()
      innerWork = false
      // Last, since the `catch` tells by it whether the outermost transaction has begun.
      depth += 1
    } catch {
      if depth == 0 {
        transaction.rollBack()
        transaction.end()
      }
      writing.unlock()
      throw error
    }
  }

  /// The name of the savepoint within so many transactions, by which RELEASE and ROLLBACK TO find it.
  private static func savepoint(_ depth: Int) -> String { "stead_\(depth)" }

  // MARK: Ending

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
      try checkTransaction()
      // A writer that saved no objects may have used numbers.
      if author == nil { connection.nextRows = [:] }
      let number = try transaction.writeCommit()
      publication.post(number, from: author, rows: rows)
      isPosted = true
      try close(from: author)
      return number
    } catch {
      // Nobody takes this one for committed.
      if isPosted { publication.retractLast() }
      rollBack()
      throw error
    }
  }

  /// Ends the innermost transaction, which has written nothing itself: commits what transactions within it have
  /// committed, or takes it back if there is no such work.
  func commitInnerWork() throws {
    guard hasInnerWork else { return rollBack() }
    do {
      try checkTransaction()
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
      try connection.execute("RELEASE \(Self.savepoint(depth - 1))")
      connection.changes = outer.removeLast().changes
      innerWork = true
      depth -= 1
      writing.unlock()
      return
    }
    // Without a commit only `maintain` has written.
    try transaction.commit(isQuiet: publication.isEmpty)
    trimming.didCommit(number)
    // Read with the lock: another thread may begin a transaction as soon as it is released.
    let announcement = publication.announcement(of: transaction.newest, from: author)
    let isDurable = transaction.syncsCommit
    // The rows that refer to them are committed, so a later rollback must not remove these files.
    blobs?.keepWritten()
    depth = 0
    endLastTransaction()
    writing.unlock()
    announcement.send()
    // Only reported: a commit cannot be undone.
    if isDurable { transaction.syncDirectory() }
  }

  /// Rolls back the innermost transaction; does nothing if this thread has none open.
  ///
  /// Invariant: afterwards the commits within it are in no log, and numbers of rows that it gave out are read again
  /// from the tables. Their authors have taken the objects of these commits for saved, so all contexts read
  /// everything again.
  ///
  /// After some errors, such as a full disk, SQLite has rolled back the outermost transaction with all savepoints
  /// itself. The calls that end the outer ones then find nothing to roll back.
  func rollBack() {
    guard isWritingHere, depth > 0 else { return }
    // Of a savepoint, too, which may drop files of the outer transaction. Before a file is removed,
    // its rows are looked for.
    blobs?.dropWritten()
    if depth > 1, connection.isInTransaction {
      transaction.rollBack(to: Self.savepoint(depth - 1))
      let around = outer.removeLast()
      publication.retract(from: around.postedCount)
      (connection.changes, innerWork) = (around.changes, around.hasInnerWork)
      depth -= 1
      writing.unlock()
      return
    }
    if !connection.isInTransaction, !publication.isEmpty {
      Report.problem(
        "SQLite has ended a transaction of \(configuration.url.path) itself, as it does for a full disk. What was committed "
          + "within it is lost.")
    }
    transaction.rollBack()
    publication.retract(from: 0)
    transaction.invalidateTriggers()
    // What was committed within the outer ones is gone, too, which their ends throw.
    let around = outer.popLast()
    if let around { connection.changes = around.changes }
    innerWork = around?.hasInnerWork ?? false
    depth -= 1
    if depth == 0 { endLastTransaction() }
    writing.unlock()
  }

  /// Ends what is kept for the outermost transaction. `writing` is still locked.
  private func endLastTransaction() {
    publication.removeAll()
    innerWork = false
    writingThread.store(0, ordering: .releasing)
    transaction.end()
  }

  // MARK: Work in and beside transactions

  /// Runs a body in the transaction that this thread has open, without beginning one.
  ///
  /// - Throws: `readOnlyStore` or `storeFailure` if the thread has none.
  func joinTransaction<Result>(_ body: (StoreConnection) throws -> Result) throws -> Result {
    // The block of a transaction changed an object of a store that is not written.
    guard configuration.allowsSave else { throw file.refusal }
    try checkTransaction()
    return try body(connection)
  }

  /// Throws unless this thread's transaction is still open.
  ///
  /// After some errors, such as a full disk, SQLite rolls the outermost one back itself. A statement would then commit by
  /// itself what nobody takes for committed, and a savepoint would begin a transaction that nothing has checked.
  private func checkTransaction() throws {
    guard isInTransaction else {
      throw SwiftDataError(
        .storeFailure,
        "The store's transaction had ended, such as by a full disk, when more was to be written in it. Nothing was saved; "
          + "save again.")
    }
  }

  /// Lets the file's triggers record what the open transaction changes, for work that changes rows by SQL of its own.
  func noteByTriggers(by author: String?) throws { try transaction.noteByTriggers(by: author) }

  /// Runs a body in a write transaction, for work that changes no object: no context reads a row again for it, and
  /// the commits' number stays.
  ///
  /// Within a transaction of this thread it is part of that one.
  func maintain<Result>(_ body: (StoreConnection) throws -> Result) throws -> Result {
    guard configuration.allowsSave else { throw file.refusal }
    return try exclusively {
      guard depth > 0 else { return try transaction.maintain(body) }
      try checkTransaction()
      // The transaction around it may write nothing itself, and then ends without a commit of its own.
      innerWork = true
      return try body(connection)
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
      return try body(connection)
    }
  }

  // MARK: Reading

  /// Runs a body with the writing connection, under its lock, and with the number of the last commit that it sees: in
  /// memory, and within a transaction of the thread.
  func read<Result>(
    _ freshness: ReaderPool.Freshness, _ body: (StoreConnection, _ number: Int64) throws -> Result
  ) throws -> Result {
    try exclusively {
      // Without a statement: the one connection has every commit of this process.
      if case .shared(let number) = freshness {
        return try body(connection, max(number, log.newestNumber))
      }
      return try body(connection, try connection.lastCommit().number)
    }
  }

  /// Finds out whether another program has made a change that a reader cannot tell from this process's.
  ///
  /// - Returns: Whether that is known now; not while a transaction of this process is open, which may be what changes
  ///   the file.
  func resolveDoubt() -> Bool {
    // Never waits: a reader would wait for a save. If the lock is taken, the doubt stays for the
    // reader's next snapshot.
    guard writing.try() else { return false }
    defer { writing.unlock() }
    return depth == 0 && !connection.isInTransaction && log.look(connection)
  }

  // MARK: Closing

  /// Moves the log into the file as the store is closed, when no other thread uses the connection.
  func moveLog(busyTimeout: Int32) { file.moveLog(connection, busyTimeout: busyTimeout) }

  /// Moves the log into the file unless a transaction is open, also one of this thread; waits for the lock for a while.
  ///
  /// - Returns: Whether no transaction was open.
  func moveLog(before limit: Date, busyTimeout: Int32) -> Bool {
    guard writing.lock(before: limit) else { return false }
    defer { writing.unlock() }
    // The lock is recursive: `exit` may have been called within this thread's own transaction.
    guard depth == 0 else { return false }
    moveLog(busyTimeout: busyTimeout)
    return true
  }
}

/// Identifies the calling thread.
enum CurrentThread {
  /// A number that no other running thread has; not 0.
  static var number: UInt {
    // A number or a pointer, by the system.
    withUnsafeBytes(of: pthread_self()) { $0.load(as: UInt.self) }
  }
}
