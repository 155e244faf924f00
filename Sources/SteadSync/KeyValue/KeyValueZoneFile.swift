import Foundation
import SteadFiles
import SteadSQLite
internal import SteadSyncProtocol

// Sendable: all mutable state, including the connection, is used only under `lock`.
/// The keys of a store and their values, as a zone in a SQLite file of its own.
///
/// Every call takes one lock. A change costs one transaction. Values are read from memory unless another process has
/// written to the file; to find that out costs one look-up.
///
/// Invariant: outside a transaction, `zone`, `stored`, `values` and `version` are what the file had at `version`. A
/// failed transaction sets `zone` to nil, and the next call reads the file again.
final class KeyValueZoneFile: @unchecked Sendable {
  /// How long SQLite waits for the locks of other processes, in milliseconds.
  private static let busyTimeout: Int32 = 10_000

  /// The keys whose values a write has changed, or another process before it.
  struct Change {
    var keys: [String]
    var isFirst: Bool
  }

  /// Not recursive: handlers are called after it is released, since they may call this object.
  private let lock = NSLock()
  /// The only connection of this object; its statements are shared.
  private let connection: SQLiteConnection
  private let access = StoredRecords.Access()
  /// The zone in memory; nil if it has to be read from the file.
  private var zone: ClientZone<StoredRecords>?
  /// The state as the file has it, against which the next save writes the difference.
  private var stored = StoredState()
  /// The number of writes to the file, by all processes.
  private var version: Int64 = -1
  /// The values by their keys, so that reading one costs no more than the check of `version`.
  private var values: [String: SyncValue] = [:]
  /// The handlers of ``watch(_:)``.
  private let listeners = ListenerList()

  /// - Parameter file: Nil for a database in memory.
  init(_ file: URL?) throws {
    // Made before SQLite opens it, which would give it the mode of the umask.
    if let file { try Self.make(file.path) }
    var options = SQLiteOptions(file.map { .file($0.path) } ?? .memory)
    options.busyTimeout = Self.busyTimeout
    connection = try SQLiteConnection(options)
    if file != nil {
      _ = try connection.useLog()
      // With a log, a crash of the system loses the last commits and damages nothing; these are settings of a user, not
      // worth a disk's flush for each.
      try connection.execute("PRAGMA synchronous = NORMAL")
    }
    try locked { try load() }
  }

  /// Makes a file that only its owner may read.
  ///
  /// An existing file is not opened: POSIX locks belong to the process, so closing another descriptor of the file would
  /// release the locks that SQLite has on it (https://www.sqlite.org/howtocorrupt.html, section 2.2).
  private static func make(_ path: String) throws {
    let disk = POSIXDisk()
    guard try disk.status(at: path) == nil else { return }
    do {
      try disk.withDescriptor(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600) { _ in }
    } catch let error as FileError where error.code == .alreadyExists {
      // Another process was first.
    }
  }

  /// Runs a body under the lock. Must not be nested.
  private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }

  private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

  // MARK: - Transactions

  /// Makes the tables and reads the values.
  private func load() throws {
    try transact { _ in }
  }

  /// Runs a body in one transaction; returns the keys whose values have changed.
  @discardableResult
  private func transact(
    _ body: (inout ClientZone<StoredRecords>) throws -> Void
  ) throws -> [String] {
    let outcome = try commit("BEGIN IMMEDIATE") { try run(body) }
    zone = outcome.zone
    version = outcome.version
    // After the commit; see ``Outcome``.
    for (key, value) in outcome.values { values[key] = value }
    return outcome.keys.sorted()
  }

  /// Reads what another process has left, without writing: a write would be a change for the other process, whose write
  /// would be a change here, without end.
  private func refresh() throws {
    // Not IMMEDIATE: a read must not wait for another process that writes.
    _ = try commit("BEGIN") { try open() }
  }

  /// Runs a body in a transaction. If that fails, the zone is read from the file again when it is needed.
  ///
  /// Invariant: after an error no transaction is open, and nothing in memory is ahead of the file. A failed COMMIT
  /// can leave the transaction open (https://www.sqlite.org/lang_transaction.html), and the next BEGIN would fail.
  private func commit<Result>(_ begin: String, _ body: () throws -> Result) throws -> Result {
    try connection.execute(begin)
    do {
      let result = try access.with(connection, body)
      try connection.execute("COMMIT")
      return result
    } catch {
      zone = nil
      stored.invalidate()
      // An error of the rollback would hide the first one.
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
  }

  /// The state in memory after a transaction is committed. Until then, memory is what the file has: a commit that a
  /// full disk refuses must leave the old values readable.
  private struct Outcome {
    let zone: ClientZone<StoredRecords>
    let version: Int64
    /// New values; nil for keys that have none any more.
    let values: [String: SyncValue?]
    /// The keys whose values have changed, also by other processes.
    let keys: Set<String>
  }

  /// Runs a body on the zone and saves what it has changed, within the open transaction. Leaves `values` and `version`
  /// alone, since the commit may still fail.
  private func run(_ body: (inout ClientZone<StoredRecords>) throws -> Void) throws -> Outcome {
    var keys: Set<String> = []
    // Within the transaction: another process may write until it begins.
    if try zone == nil || !isCurrent() { keys = try open() }
    // Taken out, so that the body changes it in place instead of copying the overlay.
    guard var current = zone.take() else { throw SyncError.notInTransaction }
    try body(&current)
    var changes: [String: SyncValue?] = [:]
    for id in current.takeChangedRecords() {
      guard let key = KeyValueZone.key(of: id) else { continue }
      let value = try current.record(id)?.fields[KeyValueZone.field]?.value
      // `.some`, since assigning nil would remove the entry instead of recording that the key has
      // no value.
      if values[key] != value { changes[key] = .some(value) }
    }
    // Nobody asks for them; dropped, so that they don't pile up.
    _ = current.takeEvents()
    try current.storage.flush()
    try stored.save(current.state, connection)
    let next = version + 1
    try SyncTables.set("turn", .integer(next), connection)
    return Outcome(
      zone: current, version: next, values: changes, keys: keys.union(changes.keys))
  }

  /// Whether no other process has written to the file since the values were read.
  private func isCurrent() throws -> Bool {
    try SyncTables.integer("turn", connection) == version
  }

  /// Reads the zone from the file; returns the keys whose values have changed.
  private func open() throws -> Set<String> {
    try SyncTables.prepare(connection)
    // What the old one had saved may be out of date.
    stored = StoredState()
    let state =
      try stored.load(connection)
      ?? ClientState(client: RandomName.client(), device: RandomName.device())
    let opened = try ClientZone(
      state, storage: StoredRecords(access), schema: .empty, limits: KeyValueZone.limits)
    // Every record that the view can have is in the base or in the outbox.
    let ids = try SyncTables.baseIDs(connection) + state.outbox.flatMap { $0.ids }
    var found: [String: SyncValue] = [:]
    for id in ids {
      guard let key = KeyValueZone.key(of: id), let record = try opened.record(id) else { continue }
      found[key] = record.fields[KeyValueZone.field]?.value
    }
    // Both sides, since another process may also have removed values.
    let changed = Set(values.keys).union(found.keys).filter { values[$0] != found[$0] }
    values = found
    version = try SyncTables.integer("turn", connection) ?? 0
    zone = opened
    return changed
  }

  // MARK: - Values

  /// All present values.
  func all() throws -> [String: SyncValue] {
    try locked {
      if try !isCurrent() { try refresh() }
      return values
    }
  }

  /// Sets or removes a value; returns why it can't be set. Setting an equal value makes no edit.
  ///
  /// The limits are checked in the transaction that makes the edit. Otherwise two processes could each find room, and
  /// exceed the limit together; the server would refuse the second edit.
  func set(_ value: SyncValue?, forKey key: String) throws -> KeyValueZone.Problem? {
    guard let id = KeyValueZone.recordID(forKey: key) else { return .key }
    let problem = try locked { () -> KeyValueZone.Problem? in
      var problem: KeyValueZone.Problem?
      try transact { zone in
        let old = try zone.record(id)
        let edit: Edit
        if let value {
          problem = KeyValueZone.problem(
            setting: value, forKey: key, replacing: old, usage: try usage(zone))
          if problem != nil || old?.fields[KeyValueZone.field]?.value == value { return }
          edit =
            old == nil
            ? .insert(id: id, type: KeyValueZone.type, fields: [KeyValueZone.field: value])
            : .update(id: id, fields: [KeyValueZone.field: value])
        } else {
          guard old != nil else { return }
          edit = .delete(id: id)
        }
        // The value fits, but members of a later version may still make its record too large.
        if case .refused(.recordSize(_, let limit, let needed)) = try zone.commit(
          [edit], now: Self.now)
        {
          problem = .value(limit: limit, needed: needed)
        }
      }
      return problem
    }
    // Outside the lock: a handler may read the store.
    listeners.notify()
    return problem
  }

  /// The size of all values. Costs all keys, of which there are at most 1,024.
  private func usage(_ zone: ClientZone<StoredRecords>) throws -> KeyValueZone.Usage {
    var usage = KeyValueZone.Usage()
    for key in values.keys {
      guard let id = KeyValueZone.recordID(forKey: key) else { continue }
      usage.replace(nil, by: try zone.record(id))
    }
    return usage
  }

  // MARK: - Syncing

  /// A write of an engine; also returns what it changed.
  func write<Result>(
    _ body: (inout ClientZone<StoredRecords>) throws -> Result
  ) throws -> (result: Result, change: Change) {
    try locked {
      var result: Result?
      var wasFirst = false
      let keys = try transact { zone in
        // Before the body, which may end the first fetch.
        wasFirst = zone.state.phase == .first
        result = try body(&zone)
      }
      guard let result else { throw SyncError.notInTransaction }
      return (result, Change(keys: keys, isFirst: wasFirst))
    }
  }

  /// Runs a body that changes nothing, on the file's present state. Reads the file only if another process has
  /// written.
  func read<Result>(_ body: (ClientZone<StoredRecords>) throws -> Result) throws -> Result {
    try locked {
      if try zone == nil || !isCurrent() { try refresh() }
      guard let zone else { throw SyncError.notInTransaction }
      return try access.with(connection) { try body(zone) }
    }
  }

  /// Runs a body with the database, under the lock; each of its statements is a transaction of its own.
  func withDatabase<Result>(_ body: (any SyncDatabase) throws -> Result) throws -> Result {
    try locked { try body(connection) }
  }

  // MARK: - Metadata

  /// A string that is stored with the values, but on this device only.
  func metadata(_ name: String) throws -> String? {
    try withDatabase { try SyncTables.text(name, $0) }
  }

  /// Sets such a string, in a transaction of its own.
  func setMetadata(_ text: String, _ name: String) throws {
    try withDatabase { try SyncTables.set(name, .text(text), $0) }
  }

  /// Calls a body after each change by a program of this process.
  func watch(_ body: @escaping @Sendable () -> Void) -> any AnyObject & Sendable {
    listeners.add(body)
  }
}

extension SQLiteConnection: SyncDatabase {}

// MARK: - As a zone of an engine

/// A key-value store as a zone of an engine. Each change of a program is in the outbox at once.
final class KeyValueSyncedZone: SyncedZone {
  let id: ZoneID
  /// The store whose notifications are posted.
  private let store: SyncedKeyValueStore
  /// The file with the zone.
  private let file: KeyValueZoneFile

  init?(_ id: ZoneID, _ store: SyncedKeyValueStore) {
    guard let file = store.zone else { return nil }
    self.id = id
    self.store = store
    self.file = file
  }

  func write<Result>(
    _ body: (inout ClientZone<StoredRecords>) throws -> Result
  ) throws -> Result {
    let (result, change) = try file.write(body)
    // After the commit and outside the file's lock: handlers read the store.
    if !change.keys.isEmpty {
      store.notify(
        change.isFirst
          ? SyncedKeyValueStore.initialSyncChange : SyncedKeyValueStore.serverChange, change.keys)
    }
    return result
  }

  func read<Result>(_ body: (ClientZone<StoredRecords>) throws -> Result) throws -> Result {
    try file.read(body)
  }

  func hasLocalChanges() throws -> Bool { try counts().pending > 0 }

  func counts() throws -> (pending: Int, quarantined: Int, unshown: Int) {
    try file.withDatabase {
      (try SyncTables.count("outbox", $0), try SyncTables.count("quarantine", $0), 0)
    }
  }

  func conflicts() throws -> [SyncConflict] {
    try file.withDatabase { try ConflictTable(database: $0).all() }
  }

  func clearConflicts() throws { try file.withDatabase { try ConflictTable(database: $0).clear() } }

  func remove(_ conflict: SyncConflict) throws {
    try file.withDatabase { try ConflictTable(database: $0).remove(conflict) }
  }

  func watch(_ body: @escaping @Sendable () -> Void) -> any AnyObject & Sendable {
    file.watch(body)
  }

  // Values of keys are never blobs.

  func bytes(of blob: BlobID) throws -> Data? { nil }
  func missingBlobs(of records: [Record]) throws -> [BlobID] { [] }
  func store(_ blob: BlobID, _ bytes: Data) throws {}
}
