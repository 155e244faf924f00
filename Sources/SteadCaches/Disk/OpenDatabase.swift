import CSteadFiles
import CSteadSQLite
import Foundation
import SteadFiles
import SteadSQLite
import Synchronization

/// The connections to a cache's file: one that writes, and a pool of those that read, each used by
/// one thread at a time.
///
/// Ends with its last reference: when the file is replaced or damaged, calls that are running
/// finish with the old one.
final class OpenDatabase: Sendable {
  /// The maximum number of idle readers that stay open.
  static let idleLimit = 8
  /// How long an idle reader keeps its snapshot, which keeps the log from being reset.
  static let idleSnapshotTimeout = Duration.milliseconds(20)
  /// Not a timer of Dispatch's: the first one of a program ends it if no descriptor is free.
  private static let snapshotEnds = SerialCalls()
  /// The length of the log, in pages, at which a commit checkpoints it (`wal_autocheckpoint`): 4
  /// MB.
  static let checkpointPages = 1_000
  /// The size to which a log's file is truncated after a checkpoint (`journal_size_limit`), in
  /// bytes.
  static let keptLogSize = 8 << 20

  let path: String
  let rights: FileRights
  let identity: FileStatus.Identity
  /// A random number that tells this file from those that were at the same path before and after
  /// it.
  let generation: Int64
  let hash: KeyHash
  /// Whether the system was restarted since the file was last opened, so that a power cut may have
  /// torn it.
  let isFirstOfBoot: Bool
  private let changes: ChangeCounter?
  private let opening = openings.add(1, ordering: .relaxed).newValue
  private let forks: UInt64
  private let writer: Mutex<SQLiteConnection>
  private let readers = Mutex<[CacheReader]>([])
  private let isEndingSnapshots = Atomic<Bool>(false)

  /// Opens a file, and makes the tables of one that is empty.
  init(_ directory: CacheDirectory, _ rights: FileRights) throws {
    guard let identity = directory.databaseIdentity else {
      throw FileError(errno: ENOENT, doing: "open it", path: directory.database)
    }
    path = directory.database
    self.rights = rights
    self.identity = identity
    forks = forkGeneration
    try Self.inherited.withLock { files in
      if let known = files[identity], known.forks != forkGeneration { throw CacheFailure.inherited }
      files[identity, default: (forkGeneration, 0)].count += 1
    }
    do {
      let connection = try Self.connect(path)
      try CacheSchema.prepare(connection, boot: BootIdentifier.current)
      let row = try connection.rows("SELECT generation, salt, boot FROM state")
      // A damaged state is as bad as a damaged file: without salt no key is found.
      guard row.count == 1, case .integer(let generation) = row[0][0],
        case .blob(let salt) = row[0][1], salt.count == 16, case .text(let boot) = row[0][2]
      else { throw SQLiteError.damaged("the cache's state is missing") }
      self.generation = generation
      hash = KeyHash(
        salt: salt.withUnsafeBytes {
          ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        })
      // Where the system has no identifier, each opening counts again: with counts that are too
      // small, the entries would exceed the limits.
      isFirstOfBoot = boot.isEmpty || boot != BootIdentifier.current
      changes = ChangeCounter(directory.changes, in: directory)
      // The first read opens the log. Done while the directory is locked: another process could
      // replace the file in between, and this one would read the new log with the old file.
      let reader = try CacheReader(Self.connect(path, cacheSize: CacheReader.firstCacheSize))
      readers.withLock { $0.append(reader) }
      // From here on `WriteLock` waits, and not SQLite's busy handler.
      connection.setBusyTimeout(0)
      // The last property: an error after it would end the object, and release the file twice.
      writer = Mutex(connection)
    } catch {
      Self.release(identity)
      throw error
    }
  }

  deinit {
    guard forks == forkGeneration else {
      // The parent's locks are not this process's: to close these connections would end what the
      // parent has.
      writer.withLock { _ = Unmanaged.passRetained($0) }
      readers.withLock { for reader in $0 { _ = Unmanaged.passRetained(reader) } }
      return
    }
    Self.release(identity)
  }

  /// What has become of an open file.
  enum Fate {
    case current
    /// Another file has its path, or none.
    case replaced
    /// It ends within its first page.
    case cutOff
  }

  /// The size of SQLite's smallest page. A file that was opened has a page at least: to change an
  /// empty file to a log's mode writes the first one.
  private static let smallestPage = 512

  /// Whether the files at the cache's paths are still those that are open. Costs two `stat`s.
  func fate(in directory: CacheDirectory) -> Fate {
    guard let found = directory.databaseStatus, found.identity == identity,
      changes?.isCurrentFile(in: directory) != false
    else { return .replaced }
    return found.size < Self.smallestPage ? .cutOff : .current
  }

  /// The name of the file that has an entry's value.
  func name(ofValue id: Int64) -> String { String(generation, radix: 16) + "-" + String(id) }

  /// The file's current version for an object whose own changes do not count; nil if it can't be
  /// determined.
  func token(for origin: ChangeOrigin) -> ChangeToken? {
    guard let changes, let count = origin.foreignCount({ changes.count }) else { return nil }
    return ChangeToken(generation: generation, opening: opening, count: count)
  }

  /// Announces a committed change to other objects and processes.
  func announceChange(by origin: ChangeOrigin?) {
    if let origin { origin.add { changes?.add() } } else { changes?.add() }
  }

  /// Runs a body with a reader that nobody else uses meanwhile: an idle one, or a new connection.
  ///
  /// Waits for no other process, except while one recovers the log after a crash. The reader sees
  /// everything that was committed before the call.
  func read<Result>(_ body: (CacheReader) throws -> Result) throws -> Result {
    let reader =
      try readers.withLock { $0.popLast() } ?? connectReader(cacheSize: CacheReader.cacheSize)
    // Counted before the snapshot begins: a change in between is in the snapshot already, and
    // merely makes the next read begin a new one. The other way round a change could be missed.
    try rights.use { try reader.prepare(count: changes?.count) }
    // A reader that throws is not recycled, and so closed.
    let result = try rights.use { try body(reader) }
    let isWaiting = reader.hasSnapshot
    recycle(reader)
    if isWaiting { scheduleSnapshotEnd() }
    return result
  }

  /// Runs a body with the connection that writes, once no other thread uses it.
  func write<Result: Sendable>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    try writer.withLock { connection in try rights.use { try body(connection) } }
  }

  private func connectReader(cacheSize: Int) throws -> CacheReader {
    try rights.use { try CacheReader(Self.connect(path, cacheSize: cacheSize)) }
  }

  private func recycle(_ reader: CacheReader) {
    // Beyond the limit the reader is closed: a burst of threads must not keep descriptors and page
    // caches for ever.
    readers.withLock { if $0.count < Self.idleLimit { $0.append(reader) } }
  }

  // MARK: - Snapshots

  /// Ends the snapshots of readers that are unused now.
  func endSnapshots() {
    let idle = readers.withLock { readers in
      defer { readers = [] }
      return readers
    }
    // In the same order, so that the one with the large page cache stays the first.
    let ended = idle.filter { (try? $0.endSnapshot()) != nil }
    readers.withLock { $0 = Array((ended + $0).suffix(Self.idleLimit)) }
  }

  /// Ends the snapshots of idle readers later, once for all calls until then.
  private func scheduleSnapshotEnd() {
    // One call at a time, not one for each read: a get must not cost a timer.
    if isEndingSnapshots.exchange(true, ordering: .relaxed) { return }
    Self.snapshotEnds.call(after: Self.idleSnapshotTimeout) { [weak self] in
      guard let self else { return }
      // Before the snapshots are ended: a read that begins one from now on schedules the next call.
      isEndingSnapshots.store(false, ordering: .relaxed)
      endSnapshots()
    }
  }

  /// - Parameter cacheSize: The page cache of a connection that reads, in KiB; nil for one that
  ///   writes.
  private static func connect(_ path: String, cacheSize: Int? = nil) throws -> SQLiteConnection {
    var options = SQLiteOptions(.file(path))
    // Opened for writing: a reader may have to recover the log that a killed process has left.
    options.busyTimeout = CacheReader.lockTimeout
    options.cacheSize = cacheSize
    // The directory makes it, for its owner alone.
    options.makesFile = false
    let connection = try SQLiteConnection(options)
    // Otherwise the last connection to be closed would checkpoint and delete the log, for which
    // others have to wait.
    connection.keepLog()
    // Checksums reveal what a power cut has left half written; a kill loses nothing.
    try connection.execute("PRAGMA synchronous = OFF")
    // Only the writer checkpoints.
    if cacheSize == nil {
      try connection.execute("PRAGMA wal_autocheckpoint = \(checkpointPages)")
      try connection.execute("PRAGMA journal_size_limit = \(keptLogSize)")
    } else {
      try connection.execute("PRAGMA query_only = ON")
    }
    return connection
  }

  private static let openings = Atomic<UInt64>(0)

  // MARK: - Forks

  /// The files that are open, and the fork generation in which they were opened.
  ///
  /// SQLite records the POSIX locks of a file in memory, by process, so the child of a fork takes
  /// its parent's for its own (<https://www.sqlite.org/howtocorrupt.html>, section 2.6). It must
  /// not open the same file.
  private static let inherited = ForkSafeLock<[FileStatus.Identity: (forks: UInt64, count: Int)]>(
    [:])

  private static func release(_ identity: FileStatus.Identity) {
    inherited.withLock { files in
      guard let known = files[identity], known.forks == forkGeneration else { return }
      files[identity] = known.count == 1 ? nil : (known.forks, known.count - 1)
    }
  }
}

// MARK: - Readers

/// A connection that reads entries, and keeps a snapshot over several reads.
///
/// To begin and end a read transaction takes two file locks. So reads that follow each other
/// closely share one, for as long as the shared ``ChangeCounter`` shows that nothing was committed.
// Sendable: the pool of an open database gives a reader to one thread at a time.
final class CacheReader: @unchecked Sendable {
  /// How long a read waits while another process recovers the log after a crash, in milliseconds.
  static let lockTimeout: Int32 = 100
  /// The page caches of the first reader, which one thread uses again and again, and of further
  /// ones, in KiB.
  static let (firstCacheSize, cacheSize) = (4_096, 1_024)
  /// Reads that follow each other within this time share one snapshot.
  static let burst = Duration.microseconds(500)
  /// How long a snapshot may last. This is also how long it takes to notice a commit whose process
  /// was killed before it counted it.
  static let snapshotLifetime = Duration.milliseconds(2)

  private struct Snapshot {
    /// How often the cache had been changed when it began.
    let count: UInt64
    let end: ContinuousClock.Instant
  }

  let connection: SQLiteConnection
  private let lookUp: SQLiteStatement
  private var snapshot: Snapshot?
  private var lastUse: ContinuousClock.Instant?

  /// `entries_by_hash` covers what `entries` is asked for (hash, id and the row's `used`), so a get
  /// descends two B-trees.
  private static let lookUpSQL = """
    SELECT e.used, c.id, c.stored, c.expires, c.form, c.length, c.head, c.body, c.key, c.tags, \
    c.metadata, c.value FROM entries AS e INDEXED BY entries_by_hash \
    CROSS JOIN contents AS c ON c.id = e.id WHERE e.hash = ?
    """

  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    lookUp = try SQLiteStatement(Self.lookUpSQL, on: connection)
  }

  // MARK: - Snapshots

  /// Whether a snapshot is open, which keeps the log from being reset.
  var hasSnapshot: Bool { snapshot != nil }

  /// Ensures that the next read sees everything that was committed before this call.
  ///
  /// - Parameter count: The shared count of changes; nil if it can't be read, and then no snapshot
  ///   is kept.
  func prepare(count: UInt64?) throws {
    let now = ContinuousClock.now
    defer { lastUse = now }
    if let snapshot {
      // Nothing was committed since the snapshot began, as far as the shared count knows.
      if snapshot.count == count, now < snapshot.end { return }
      try endSnapshot()
    }
    // A single read needs no snapshot: SQLite's own transaction for the statement is as good.
    guard let count, let lastUse, now - lastUse < Self.burst else { return }
    try connection.run("BEGIN")
    snapshot = Snapshot(count: count, end: now + Self.snapshotLifetime)
  }

  func endSnapshot() throws {
    guard snapshot != nil else { return }
    snapshot = nil
    try connection.run("COMMIT")
  }

  // MARK: - Entries

  /// The entry of a key, as it was written; nil if none exists, or if its row is damaged.
  ///
  /// - Parameter readsValue: Whether a value in the row is read and compared with its checksum.
  func entry(for key: UnsafeRawBufferPointer, hash: Int64, readsValue: Bool = true) throws
    -> StoredEntry?
  {
    lookUp.rewind()
    // A statement that is not reset keeps its read transaction open.
    defer { lookUp.rewind() }
    lookUp.bind(hash, at: 1)
    while try lookUp.step() {
      guard lookUp.bytes(8).elementsEqual(key) else { continue }
      return StoredEntry(lookUp, readsValue: readsValue)
    }
    return nil
  }
}

extension StoredEntry {
  /// The entry of a row as `CacheReader` selects it; nil when a checksum isn't right.
  init?(_ row: SQLiteStatement, readsValue: Bool) {
    used = row.integer(0)
    id = row.integer(1)
    stored = row.integer(2)
    expires = row.integer(3)
    form = Form(rawValue: row.integer(4))
    guard Self.sizes.contains(row.integer(5)) else { return nil }
    length = Int(row.integer(5))
    let head = UInt32(truncatingIfNeeded: row.integer(6))
    body = UInt32(truncatingIfNeeded: row.integer(7))
    key = row.data(8)
    tags = TagList(bytes: row.data(9))
    metadata = row.data(10)
    // The checksum covers the fields above, so none of them is used before it was compared.
    guard head == self.head else { return nil }
    guard readsValue, !form.contains(.file) else { return }
    let bytes = row.bytes(11)
    guard bytes.count == length, bytes.checksum == body else { return nil }
    value = Data(bytes)
  }
}

extension SQLiteStatement {
  /// The bytes of a column, valid until the next step.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    guard let start = sqlite3_column_blob(pointer, column) else {
      return .init(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
  }

  /// Binds bytes that stay where they are until the statement has run.
  func bind(borrowing bytes: UnsafeRawBufferPointer, at parameter: Int32) {
    if let start = bytes.baseAddress, !bytes.isEmpty {
      sqlite3_bind_blob64(pointer, parameter, start, UInt64(bytes.count), nil)
    } else {
      sqlite3_bind_zeroblob(pointer, parameter, 0)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes' CRC-32C.
  var checksum: UInt32 { baseAddress.map { stead_crc32c(0, $0, count) } ?? 0 }
}
