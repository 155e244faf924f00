import Dispatch
import Foundation
import SteadFiles
import Synchronization

/// One SQLite file: a connection that writes, and as many reading connections as are needed at once.
///
/// ``StoreWriter`` has the write transactions, ``ReaderPool`` the connections that read, and ``ForeignCommits`` notices
/// what other processes commit. This type opens and closes them.
final class RecordStore: @unchecked Sendable {
  // Sendable: all of it is immutable, or has its own lock.

  /// How long a write waits for other processes, in seconds.
  static let lockTimeout = 60

  /// The identifier that a store got when it was made. Its copies have the same.
  struct Identity: Hashable, Sendable {
    let identifier: String
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
  let plans: [EntityPlan.Lazy?]
  /// The tables of the hierarchies that this store holds.
  let tables: [TableLayout]
  /// The file, or memory, and how connections to it are opened.
  let file: StoreFile
  /// The commits that contexts of this process have made to the file.
  let log: CommitLog
  /// The connection that writes, and its transactions.
  let writer: StoreWriter
  /// When the history is trimmed.
  private let trimming: TrimmingSchedule
  /// Notices what other processes commit.
  let foreignCommits = ForeignCommits()
  /// The connections that read. Memory, and a transaction's own thread, use the writer instead.
  private let readers: ReaderPool
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
    let connection = try file.open(writable: isWritable)
    // Until the store is open: the last connection to close would checkpoint the log into the file, which must stay as
    // it is if this throws.
    let hadLog = file.hasLog
    if hadLog { connection.keepLog() }
    // Sorted, because `entities` is a set and the digest of the tables depends on their order.
    let roots = Set(entities.map { layout.entities[$0].rootIndex }).sorted()
    let tables = roots.map { TableLayout(root: layout.entities[$0], layout: layout) }
    self.tables = tables
    let blobs =
      configuration.isStoredInMemoryOnly ? nil : BlobFiles(directory: file.blobDirectory)
    self.blobs = blobs
    var preparation = StorePreparation(
      connection, layout, tables: tables, entities: entities, allowsSave: isWritable, blobs: blobs,
      file: file, report: report,
      // Nobody else writes to memory, so it needs no triggers that record other programs' changes.
      keepsHistory: configuration.history != .off && !configuration.isStoredInMemoryOnly,
      keepsOldRows: configuration.history.keepsOldRows, isMirror: mirrored != nil)
    let historian = HistoryWriter(connection, configuration, layout, entities)
    let identity: Identity
    do {
      identity = Identity(identifier: try preparation.run())
    } catch {
      // Another process may have made one.
      if file.hasLog { connection.keepLog() }
      throw error
    }
    self.identity = mirrored.map { Identity(identifier: $0) } ?? identity
    connection.numbersRowsByKey = mirrored != nil
    migration = preparation.migration
    let tableByName = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) })
    // Lazily made: most programs use few of their models at first.
    plans = layout.entities.map { [identity = self.identity] entity in
      guard entities.contains(entity.index), let table = tableByName[entity.table] else {
        return nil
      }
      return EntityPlan.Lazy(entity, table, identity)
    }
    // Not by `self.identity`: the mirrors of two containers share that, but not their commits.
    log = CommitLog.of(try CommitLog.name(identity, configuration))
    let models = StoredModels(layout)
    trimming = TrimmingSchedule(configuration.historyLimits)
    writer = StoreWriter(
      FileTransaction(connection, historian, file, log, models), file, log, blobs, trimming)
    readers = ReaderPool(file, log, models)
    try writer.didOpen()
    if hadLog { connection.keepLog(false) }
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
    if OpenStores.isClosed(log) { writer.moveLog(busyTimeout: 0) }
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
    let result = try writer.transact(isDurable: isDurable) { connection in
      let result = try body(connection)
      try writer.commit(from: nil, rows: nil)
      return result
    }
    trimIfDue()
    return result
  }

  /// Removes from the history what the configuration's limits do not keep.
  ///
  /// Does nothing without limits. Otherwise it is a write transaction, even if nothing exceeds
  /// them.
  func trimHistory() throws {
    let limits = configuration.historyLimits
    if limits == .none { return }
    try writer.maintain { try HistoryTrimming(connection: $0, limits: limits).run() }
  }

  /// Trims the history if enough commits were made since the last time. Called when the save has released all stores:
  /// it waits for this one's lock.
  func trimIfDue() {
    guard !writer.isWritingHere, trimming.take() else { return }
    do {
      try trimHistory()
    } catch {
      // The save itself is done, and the next removal finds the same.
      Report.problem("The store's history could not be trimmed: \(error)")
    }
  }

  /// Writes a copy of what is committed to a new file.
  ///
  /// Costs reading and writing all pages. Others may read and write meanwhile.
  func copy(to path: String) throws {
    try read(.newest) { connection, _ in try connection.copy(to: path) { _, _ in } }
  }

  // MARK: Reading

  /// Runs a body with a connection that sees one commit, and with that commit's number.
  ///
  /// In memory, and within a transaction of this thread, the body runs on the writer, under its
  /// lock. Otherwise it runs on a reader, which waits for no write.
  func read<Result>(
    _ freshness: ReaderPool.Freshness, _ body: (StoreConnection, _ number: Int64) throws -> Result
  ) throws -> Result {
    // A database in memory is its one connection's. Within a transaction, only the writer sees what it has written.
    if configuration.isStoredInMemoryOnly || writer.isWritingHere {
      return try writer.read(freshness, body)
    }
    return try readers.read(freshness, doubting: writer.resolveDoubt, body)
  }

  // MARK: Other processes

  /// Starts to notice commits of other processes as they are made; once is enough.
  func watch() { foreignCommits.watch(self) }

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
    if writer.moveLog(before: limit, busyTimeout: Self.exitTimeout) { return }
    // A transaction is open, which ends with the process. What was committed before is moved by another connection.
    guard let connection = try? file.openAgain() else { return }
    // It has the file that is at the path now. The writer can't be asked for its own while the transaction uses it.
    guard let name = try? CommitLog.name(identity, configuration), CommitLog.of(name) === log else {
      return connection.keepLog()
    }
    file.moveLog(connection, busyTimeout: 0)
  }
}

// MARK: - Commits of other processes

/// Notices commits of other processes to a store as they are made, and asks the listening contexts to look.
///
/// Where the log cannot be watched, they are found when a context next fetches.
///
/// Belongs to a store, which is passed to each call and held weakly in between, so that watching doesn't keep it open.
final class ForeignCommits: Sendable {
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
  /// Reports writes to the log; nil until ``watch(_:)``.
  private let watcher = Mutex<StoreWatcher?>(nil)

  /// Starts watching the store's file; once is enough.
  func watch(_ store: RecordStore) {
    guard !store.configuration.isStoredInMemoryOnly else { return }
    watcher.withLock { watcher in
      if watcher != nil { return }
      // nil if the directory cannot be watched; the next call tries again.
      watcher = StoreWatcher(store: store.configuration.url) { [weak store] in
        if let store { store.foreignCommits.logChanged(store) }
      }
    }
  }

  /// Asks the listening contexts to look, if the store has a commit that they were not notified of.
  private func look(_ store: RecordStore) {
    let log = store.log
    let outsiderCount = log.outsiderCount
    do {
      // Reading records a change without a number, too, which raises `outsiderCount`.
      let number = try store.read(.newest) { $1 }
      if log.tell(number) || log.outsiderCount != outsiderCount { log.notify() }
    } catch {
      Report.problem("Other processes' changes could not be read from the store: \(error)")
    }
  }

  /// Looks for commits of other processes after the log was written.
  ///
  /// Pages are written to the log before the commit is visible. So the look is repeated a little later, twice: once
  /// for a commit under way, once for one that waits for the disk. A write during these adds no further ones, but
  /// begins them again at their end.
  private func logChanged(_ store: RecordStore) {
    look(store)
    // Of several threads only one schedules the looks. The others leave `again`, which repeats
    // them.
    if looking.exchange(Looking.again, ordering: .acquiringAndReleasing) == Looking.none {
      lookLater(store)
    }
  }

  /// Looks for commits 10 and 110 milliseconds from now, on a queue of its own.
  private func lookLater(_ store: RecordStore) {
    looking.store(Looking.later, ordering: .releasing)
    looks.call(after: .milliseconds(10)) { [weak self, weak store] in
      if let self, let store { look(store) }
      self?.looks.call(after: .milliseconds(100)) { [weak self, weak store] in
        guard let self, let store else { return }
        // A write in the meantime starts its own two checks.
        let isWanted =
          looking.exchange(Looking.none, ordering: .acquiringAndReleasing) == Looking.again
        isWanted ? logChanged(store) : look(store)
      }
    }
  }
}

/// Calls a function whenever a store's write-ahead log is written to.
final class StoreWatcher: Sendable {
  private let watcher: FileWatcher

  /// nil if the store's directory cannot be watched.
  init?(store: URL, onChange: @escaping @Sendable () -> Void) {
    let log = store.lastPathComponent + "-wal"
    // All watchers share a thread, which must not wait for a commit's effects.
    let queue = DispatchQueue(label: "stead.store-watcher", qos: .utility)
    guard
      let watcher = try? FileWatcher(
        directory: store.deletingLastPathComponent(), names: [log],
        onChange: { _ in queue.async(execute: onChange) })
    else { return nil }
    self.watcher = watcher
  }

  deinit { watcher.cancel() }
}
