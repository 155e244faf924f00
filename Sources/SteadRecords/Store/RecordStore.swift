import Foundation
import GRDBSQLite
import SteadFiles
import Synchronization

/// One SQLite file: a connection that writes, and as many that read as are needed at once.
final class RecordStore: @unchecked Sendable {
  // Sendable: `writer` is used under `writing` alone, readers by one thread at a time, and the rest is
  // immutable or has a lock of its own.

  /// How long a write waits for other processes, in seconds.
  static let lockPatience = 60
  /// How long look-ups by identifier may share one snapshot, in nanoseconds.
  static let snapshotLifetime: UInt64 = 2_000_000
  /// The most readers kept open while they are not used.
  static let idleReaderLimit = 8

  struct Identity: Hashable, Sendable {
    let identifier: String
  }

  let identity: Identity
  let layout: StoreLayout
  let configuration: ModelConfiguration
  let blobs: BlobFiles?
  /// The plans of the entities that this store holds, by entity index.
  let plans: [EntityPlan?]
  let tables: [TableLayout]
  private let opener: StoreOpener
  private let writer: Connection
  private let writing = NSRecursiveLock()
  private let idleReaders = Mutex<[Connection]>([])
  private let commits = Atomic<UInt64>(0)
  private let isClosingSnapshots = Atomic<Bool>(false)

  init(configuration: ModelConfiguration, layout: StoreLayout, entities: Set<Int>) throws {
    self.configuration = configuration
    self.layout = layout
    opener = StoreOpener(configuration)
    try opener.checkFile()
    let isWritable = configuration.allowsSave || configuration.isStoredInMemoryOnly
    writer = try opener.open(writable: isWritable)
    let roots = Set(entities.map { layout.entities[$0].rootIndex }).sorted()
    let tables = roots.map { TableLayout(root: layout.entities[$0], layout: layout) }
    self.tables = tables
    let preparation = StorePreparation(
      connection: writer, layout: layout, tables: tables, entities: entities,
      allowsSave: isWritable)
    let identity = Identity(identifier: try preparation.run())
    self.identity = identity
    let tableByName = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) })
    plans = layout.entities.map { entity in
      guard entities.contains(entity.index), let table = tableByName[entity.table] else {
        return nil
      }
      return EntityPlan(entity: entity, table: table, store: identity)
    }
    blobs = configuration.isStoredInMemoryOnly ? nil : BlobFiles(directory: opener.blobDirectory)
  }

  /// Runs a body in one write transaction; it is rolled back when the body throws.
  ///
  /// - Parameter isDurable: Whether the commit survives a loss of power when this returns, which costs
  ///   a sync of the disk. Within another transaction it is that one's.
  func write<Result>(
    isDurable: Bool = false, _ body: (Connection) throws -> Result
  ) throws -> Result {
    guard configuration.allowsSave else {
      throw SwiftDataError(
        .readOnlyStore, "The store was opened with allowsSave: false; open it for writing to save.")
    }
    var isForeign = false
    // What was asked once is not asked again, so it is told even when the transaction fails.
    defer { if isForeign { postForeignChanges() } }
    return try writeLocked(isDurable && !configuration.isStoredInMemoryOnly, &isForeign, body)
  }

  private func writeLocked<Result>(
    _ isDurable: Bool, _ isForeign: inout Bool, _ body: (Connection) throws -> Result
  ) throws -> Result {
    writing.lock()
    defer { writing.unlock() }
    if writer.isInTransaction { return try body(writer) }
    if isDurable { try writer.execute("PRAGMA synchronous = FULL") }
    // A connection that syncs more often than it must is slower, and no less right.
    defer { if isDurable { try? writer.execute("PRAGMA synchronous = NORMAL") } }
    try writer.run("BEGIN IMMEDIATE")
    do {
      // Inside the transaction the question needs no locks of its own.
      isForeign = !configuration.isStoredInMemoryOnly && noteDataVersion()
      let result = try body(writer)
      try writer.run("COMMIT")
      commits.add(1, ordering: .releasing)
      if isDurable { try syncDirectory() }
      return result
    } catch {
      // SQLite has rolled back by itself after some errors.
      if writer.isInTransaction { try? writer.execute("ROLLBACK") }
      throw error
    }
  }

  /// A file that was just made is there after a loss of power once its directory is synced.
  private func syncDirectory() throws {
    try POSIXDisk().syncDirectory(configuration.url.deletingLastPathComponent().path)
  }

  /// Runs a body with a connection that sees all commits, or, unless `fresh`, all but the newest
  /// ones of other processes.
  func read<Result>(
    fresh: Bool = true, _ body: (Connection) throws -> Result
  ) throws -> Result {
    if configuration.isStoredInMemoryOnly {
      writing.lock()
      defer { writing.unlock() }
      return try body(writer)
    }
    let reader = try idleReaders.withLock { $0.popLast() } ?? opener.open(writable: false)
    defer { giveBack(reader) }
    try prepare(reader, fresh: fresh)
    return try body(reader)
  }

  private func giveBack(_ reader: Connection) {
    let surplus = idleReaders.withLock { idle -> Connection? in
      if idle.count >= Self.idleReaderLimit { return reader }
      idle.append(reader)
      return nil
    }
    if surplus?.snapshot != nil { endSnapshot(reader) }
  }

  /// Ends the reader's snapshot when it is too old, and opens one for a series of look-ups: that
  /// halves the cost of each.
  private func prepare(_ reader: Connection, fresh: Bool) throws {
    let newest = commits.load(ordering: .acquiring)
    if let snapshot = reader.snapshot {
      let now = clock_gettime_nsec()
      if !fresh, snapshot.commits == newest, now - snapshot.openedAt < Self.snapshotLifetime {
        return
      }
      endSnapshot(reader)
    }
    guard !fresh else { return }
    try reader.run("BEGIN")
    reader.snapshot = .init(commits: newest, openedAt: clock_gettime_nsec())
    scheduleSnapshotEnd()
  }

  private func endSnapshot(_ reader: Connection) {
    reader.snapshot = nil
    do {
      try reader.run("COMMIT")
    } catch {
      try? reader.execute("ROLLBACK")
    }
  }

  /// An open snapshot keeps the write-ahead log from being reset, so an idle one is ended soon.
  private func scheduleSnapshotEnd() {
    guard !isClosingSnapshots.exchange(true, ordering: .acquiringAndReleasing) else { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(20)) {
      [weak self] in
      guard let self else { return }
      isClosingSnapshots.store(false, ordering: .releasing)
      let idle = idleReaders.withLock { readers in
        defer { readers = readers.filter { $0.snapshot == nil } }
        return readers.filter { $0.snapshot != nil }
      }
      for reader in idle {
        endSnapshot(reader)
        giveBack(reader)
      }
    }
  }

  private func clock_gettime_nsec() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

  // MARK: Other processes

  /// Tells all contexts when another process has committed since the last call.
  func postForeignCommit() {
    guard !configuration.isStoredInMemoryOnly, sawForeignCommit() else { return }
    postForeignChanges()
  }

  private func postForeignChanges() {
    StoreExchange.shared.post(StoreChanges(store: identity, rows: nil), from: nil)
  }

  /// Asks the writing connection, whose own commits do not count.
  private func sawForeignCommit() -> Bool {
    // While a save holds the lock the question can wait: the save's own end asks it again.
    guard writing.try() else { return false }
    defer { writing.unlock() }
    return noteDataVersion()
  }

  private func noteDataVersion() -> Bool {
    guard let version = try? writer.integer("PRAGMA data_version") else { return false }
    defer { lastDataVersion = version }
    return lastDataVersion != nil && lastDataVersion != version
  }
  private var lastDataVersion: Int64?

  /// Starts watching the store's file for commits of other processes; once is enough.
  func watch() {
    guard !configuration.isStoredInMemoryOnly else { return }
    watching.lock()
    defer { watching.unlock() }
    guard watcher == nil else { return }
    watcher = StoreWatcher(store: configuration.url) { [weak self] in self?.logChanged() }
  }

  /// The log is written before the commit shows, so the question is asked again a little later, twice:
  /// once for a commit under way, once for one that waits for the disk.
  private func logChanged() {
    postForeignCommit()
    guard !isCheckingAgain.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let queue = DispatchQueue.global(qos: .utility)
    queue.asyncAfter(deadline: .now() + .milliseconds(10)) { [weak self] in
      self?.postForeignCommit()
      queue.asyncAfter(deadline: .now() + .milliseconds(100)) { [weak self] in
        self?.isCheckingAgain.store(false, ordering: .releasing)
        self?.postForeignCommit()
      }
    }
  }
  private let isCheckingAgain = Atomic<Bool>(false)

  private var watcher: StoreWatcher?
  private let watching = NSLock()

  /// Removes every row, table and file of the store, and makes it anew.
  func erase() throws {
    try write { connection in
      for table in tables { try connection.execute("DELETE FROM \(quoted(table.name))") }
      for entity in layout.entities where plans[entity.index] != nil {
        for index in entity.joined {
          guard let join = entity.properties[index].joinTable else { continue }
          try connection.execute("DELETE FROM \(quoted(join.name))")
        }
      }
      // What was moved here is not here any more.
      for table in TransferTables.names {
        try connection.execute("DROP TABLE IF EXISTS \(quoted(table))")
      }
    }
    try opener.removeBlobs()
    if !configuration.isStoredInMemoryOnly {
      writing.lock()
      defer { writing.unlock() }
      try writer.execute("VACUUM")
    }
  }
}
