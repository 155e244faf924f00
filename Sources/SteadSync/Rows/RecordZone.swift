import Foundation
import SteadEncoding
import SteadRecords
import SteadSQLite
internal import SteadSyncProtocol

/// A store of records as a zone of an engine.
///
/// Every write is one transaction of the store, in three steps:
///
/// 1. New changes of the store's history go into the outbox, as edits at the times of their saves.
/// 2. The caller's work: a page is applied, or an answer to a push.
/// 3. Records that have changed are written into their rows, by the author ``author``.
///
/// So a crash leaves all of it or nothing. Invariant: a local edit has its stamp before a remote change is applied, or
/// a page could overwrite a row whose edit was never sent.
final class RecordZone: SyncedZone {
  /// The author of remote changes in the store's history.
  static let author = "sync"
  /// The name of the sync among the history's readers.
  static let reader = "stead.sync"
  /// The number of rows that a comparison of all rows commits at a time; below a push's limit of mutations, with room
  /// for links.
  private static let batch = 300

  let id: ZoneID
  let rows: StoreRows
  private let model: WireModel
  /// The database of the open transaction, for the storage of records.
  private let access = StoredRecords.Access()
  private let now: @Sendable () -> Int64
  /// The zone in memory; nil after a failed write, which has left it ahead of the tables.
  private var open: OpenZone?

  /// - Parameter now: The device's time in milliseconds since 1970.
  init(
    _ id: ZoneID, _ rows: StoreRows, merging merges: [ModelConfiguration.Sync.Merge],
    now: @escaping @Sendable () -> Int64
  ) throws {
    self.id = id
    self.rows = rows
    self.now = now
    model = try WireModel(rows, merging: merges)
  }

  // MARK: - Writing

  /// Runs a body in one transaction of the store, between the steps that the type describes. Blocks while another
  /// writer has the store.
  @discardableResult
  func write<Result>(
    _ body: (inout ClientZone<StoredRecords>) throws -> Result
  ) throws -> Result {
    do {
      return try rows.apply(by: Self.author) { transaction in
        try access.with(transaction) { try run(transaction, body) }
      }
    } catch {
      // The transaction was rolled back, and what is in memory is ahead of the tables.
      open = nil
      throw error
    }
  }

  /// The steps of a write, within its transaction.
  ///
  /// Invariant: when the transaction commits, the tables, the rows and `history` belong together: every save up to
  /// `history` is in the outbox or was rejected, and every row is its record's state in the view, except those that
  /// ``RowApplier`` can't write. The order of the steps keeps that. The history's position is taken last, because the
  /// rows that were just written are in the history, too.
  private func run<Result>(
    _ transaction: RowTransaction, _ body: (inout ClientZone<StoredRecords>) throws -> Result
  ) throws -> Result {
    let (open, reapplied) = try opened(transaction)
    var changed = reapplied
    changed.formUnion(try collectHistory(transaction, open))
    // Before the body, which may take confirmed transactions out of the outbox.
    let outbox = OutboxSnapshot(open.zone.state)
    let result = try body(&open.zone)
    try ConflictTable(database: transaction).add(
      outbox.conflicts(in: open.zone), at: now())
    changed.formUnion(open.zone.takeChangedRecords())
    // Conflicts are found by comparing each pending edit with the result, not from the events of merges: the server's
    // merges make no events here.
    _ = open.zone.takeEvents()
    try RowApplier(model, transaction, open).apply(changed)
    // After the rows, whose writer reads the records that are cached until now.
    try open.zone.storage.flush()
    // Staged records still need the fetched blobs.
    if try transaction.integer("SELECT 1 FROM stead_sync_staged LIMIT 1") == nil {
      try BlobTable(database: transaction).removeFetched()
    }
    try open.stored.save(open.zone.state, transaction)
    open.version += 1
    try SyncTables.set("turn", .integer(open.version), transaction)
    // The next write reads the history after this transaction, whose own changes came from records and must not become
    // edits.
    let next = try transaction.lastCommit() + 1
    try SyncTables.set("history", .integer(next), transaction)
    // The history may remove what was read up to here.
    try transaction.setHistoryReader(Self.reader, to: next)
    return result
  }

  /// The zone as stored in the tables, and the records to write into rows again because the models have changed: they
  /// may have fields for which the models had no property before.
  ///
  /// Invariant: the result is what the tables have at `turn`, with a schema that extends the one they were written
  /// with. A zone in memory is used only if `turn` says that no other process has written since: its outbox would
  /// otherwise overwrite theirs. If the configuration names another zone than the tables, nothing of the old one is
  /// left.
  private func opened(
    _ transaction: RowTransaction
  ) throws -> (open: OpenZone, reapplied: Set<RecordID>) {
    try SyncTables.prepare(transaction)
    // One look-up instead of reading the outbox again with each write.
    if let open, try SyncTables.integer("turn", transaction) == open.version { return (open, []) }
    if let known = try SyncTables.text("zone", transaction), known != id.text {
      // The configuration names another zone now. The rows stay, and are sent to that one.
      try SyncTables.clear(transaction)
    }
    try SyncTables.set("zone", .text(id.text), transaction)
    let records = StoredRecords(access)
    var stored = StoredState()
    let state =
      try stored.load(transaction)
      ?? ClientState(client: RandomName.client(), device: RandomName.device())
    let older = try storedSchema(transaction) ?? .empty
    let schema = model.schema(extending: older)
    if schema != older {
      try SyncTables.set(
        "schema", .text(String(decoding: schema.encoded(), as: UTF8.self)), transaction)
    }
    var reapplied: Set<RecordID> = []
    // Another version of the app wrote last: each row is compared with its record.
    if try SyncTables.text("models", transaction) != model.signature {
      reapplied = Set(try SyncTables.baseIDs(transaction))
      try SyncTables.set("models", .text(model.signature), transaction)
    }
    // Indexes all records again if the schema has grown.
    let zone = try ClientZone(state, storage: records, schema: schema)
    let version = try SyncTables.integer("turn", transaction) ?? 0
    let result = OpenZone(zone, stored, version: version)
    open = result
    return (result, reapplied)
  }

  /// The schema with which the tables were written last. It has rules of older versions of the app.
  private func storedSchema(
    _ transaction: RowTransaction
  ) throws -> SteadSyncProtocol.Schema? {
    try SyncTables.text("schema", transaction).map {
      try SteadSyncProtocol.Schema(encoded: $0.utf8)
    }
  }

  // MARK: - Reading

  func read<Result>(_ body: (ClientZone<StoredRecords>) throws -> Result) throws -> Result {
    if let open, try isCurrent(open) { return try body(open.zone) }
    // Not a write: it would be a change for the engines of other processes, whose writes would be changes here. Two
    // programs with one store once made 300 transactions a second with nothing to do.
    let read = try rows.read { transaction in
      try access.with(transaction) { try reopened(transaction) }
    }
    guard let read else { return try write { try body($0) } }
    open = read
    return try body(read.zone)
  }

  /// The zone as another process has left it, read without writing; nil if there is something to write, such as local
  /// changes, or tables of another format.
  private func reopened(_ transaction: RowTransaction) throws -> OpenZone? {
    guard try SyncTables.isPresent(transaction),
      try SyncTables.text("zone", transaction) == id.text,
      try SyncTables.text("models", transaction) == model.signature,
      try SyncTables.integer("history", transaction) == transaction.lastCommit(),
      let schema = try storedSchema(transaction), model.schema(extending: schema) == schema
    else { return nil }
    var stored = StoredState()
    // Otherwise the zone has to be indexed again, which writes.
    guard let state = try stored.load(transaction), state.schemaVersion == schema.version,
      state.schemaDigest == schema.digest
    else { return nil }
    return OpenZone(
      try ClientZone(state, storage: StoredRecords(access), schema: schema), stored,
      version: try SyncTables.integer("turn", transaction) ?? 0)
  }

  /// Whether the zone in memory is what the tables have, and no program has saved anything since.
  private func isCurrent(_ open: OpenZone) throws -> Bool {
    try rows.read { transaction in
      guard try SyncTables.isPrepared(transaction),
        try SyncTables.integer("turn", transaction) == open.version
      else { return false }
      return try SyncTables.integer("history", transaction) == transaction.lastCommit()
    }
  }

  /// Whether programs have saved anything since the last write. Costs one look-up.
  func hasLocalChanges() throws -> Bool {
    try rows.read { transaction in
      guard try SyncTables.isPrepared(transaction) else { return true }
      return try SyncTables.integer("history", transaction) != transaction.lastCommit()
    }
  }

  func counts() throws -> (pending: Int, quarantined: Int, unshown: Int) {
    try rows.read { transaction in
      guard try SyncTables.isPrepared(transaction) else { return (0, 0, 0) }
      return (
        try SyncTables.count("outbox", transaction),
        try SyncTables.count("quarantine", transaction),
        try SyncTables.count("unshown", transaction)
      )
    }
  }

  func conflicts() throws -> [SyncConflict] {
    try rows.read { transaction in
      guard try SyncTables.isPrepared(transaction) else { return [] }
      return try ConflictTable(database: transaction).all()
    }
  }

  func watch(_ body: @escaping @Sendable () -> Void) -> any AnyObject & Sendable {
    rows.watch(body)
  }

  func clearConflicts() throws { try changeConflicts { try $0.clear() } }

  func remove(_ conflict: SyncConflict) throws { try changeConflicts { try $0.remove(conflict) } }

  /// Changes the list of conflicts, in a transaction by the sync: it is no save of a program.
  private func changeConflicts(_ body: (ConflictTable) throws -> Void) throws {
    try rows.apply(by: Self.author) { transaction in
      guard try SyncTables.isPrepared(transaction) else { return }
      try body(ConflictTable(database: transaction))
    }
  }

  // MARK: - Blobs

  func bytes(of blob: BlobID) throws -> Data? {
    try rows.read { try BlobTable(database: $0).bytes(of: blob, model, $0) }
  }

  func missingBlobs(of records: [Record]) throws -> [BlobID] {
    let names = records.filter(\.isLive).flatMap { record in
      // Blobs of attributes that this app's models lack would never be stored.
      (model.types[record.type]?.fields ?? [:]).filter(\.value.isBlob).keys.compactMap {
        record.fields[$0].flatMap { SteadSyncProtocol.Schema.blob($0.value) }
      }
    }
    if names.isEmpty { return [] }
    return try rows.read { transaction in
      try Set(names).sorted().filter {
        try BlobTable(database: transaction).bytes(of: $0, model, transaction) == nil
      }
    }
  }

  func store(_ blob: BlobID, _ bytes: Data) throws {
    // A transport need not check anything, and a damaged value would be sent on by this device.
    guard SHA256.hexadecimal(bytes) == blob.text else {
      throw SyncError.unreachable(reason: "a large value arrived damaged")
    }
    try rows.apply(by: Self.author) { try BlobTable(database: $0).storeFetched(blob, bytes) }
  }

  // MARK: - The history

  /// Moves the saves of programs into the outbox. Returns the records whose edits were rejected: their rows must be
  /// written back as the records are.
  ///
  /// The sync is a registered reader of the history, which therefore keeps what wasn't read. If it is missing
  /// nevertheless, as when the store was synced for the first time, all rows are compared.
  ///
  /// Invariant: each save is committed as one transaction of the protocol, so that other devices see all of it at
  /// once, as long as it fits a push.
  private func collectHistory(
    _ transaction: RowTransaction, _ open: OpenZone
  ) throws -> Set<RecordID> {
    var rejected: Set<RecordID> = []
    guard let next = try SyncTables.integer("history", transaction),
      try transaction.hasHistory(after: next)
    else {
      try compareAllRows(transaction, open, &rejected)
      return rejected
    }
    try transaction.forEachTransaction(after: next) { changes in
      var collector = ChangeCollector(model, transaction, open)
      try collector.add(changes.changes)
      // In the order of the edits' times: a save may have edits that are much older than the save.
      try commit(collector.edits.sorted { $0.milliseconds < $1.milliseconds }, open, &rejected)
    }
    return rejected
  }

  /// Commits an edit for each row that differs from its record, and a deletion for each record whose row no longer
  /// exists. Reads all rows.
  private func compareAllRows(
    _ transaction: RowTransaction, _ open: OpenZone, _ rejected: inout Set<RecordID>
  ) throws {
    let time = now()
    for entity in model.entities.values.sorted(by: { $0.shape.name < $1.shape.name }) {
      // Collected first: the comparison reads other tables, and gives new rows their records.
      var numbers: [Int64] = []
      try transaction.forEachNumber(of: entity.shape) { numbers.append($0) }
      for start in stride(from: 0, to: numbers.count, by: Self.batch) {
        var collector = ChangeCollector(model, transaction, open)
        for number in numbers[start..<min(start + Self.batch, numbers.count)] {
          guard let content = try transaction.content(of: entity.shape, number) else { continue }
          try collector.compare(content, entity, time)
        }
        try commit(collector.edits, open, &rejected)
      }
    }
    // Records whose rows are gone: no history lists these deletions any more.
    var gone: [(edit: Edit, milliseconds: Int64)] = []
    let map = RowTable(database: transaction)
    try map.forEach { id, row in
      let shape = model.entities.values.first { $0.shape.root == row.root }?.shape
      // A row of a hierarchy that this app's models lack can't be looked up. It doesn't count as
      // deleted.
      if let shape, try transaction.entityName(of: row.number, in: shape) == nil,
        try open.record(id) != nil
      {
        gone.append((.delete(id: id), time))
      }
    }
    for start in stride(from: 0, to: gone.count, by: Self.batch) {
      try commit(Array(gone[start..<min(start + Self.batch, gone.count)]), open, &rejected)
    }
  }

  /// Commits the edits of one transaction of the store, in halves where a server would not accept them in one.
  ///
  /// Each call either commits the edits or leaves fewer to commit, so it ends. An edit that a rule refuses is undone:
  /// its row is written back, and a conflict says so.
  private func commit(
    _ edits: [(edit: Edit, milliseconds: Int64)], _ open: OpenZone, _ rejected: inout Set<RecordID>
  ) throws {
    guard !edits.isEmpty else { return }
    switch try open.zone.commit(edits) {
    case .committed: return
    case .unknown(let id):
      // Another device has deleted the record. The other edits of the save stay.
      rejected.insert(id)
      try commit(edits.filter { $0.edit.id != id }, open, &rejected)
    case .tooLarge where edits.count > 1:
      // Two transactions then, so other devices may see one part before the other.
      let middle = edits.count / 2
      try commit(Array(edits[..<middle]), open, &rejected)
      try commit(Array(edits[middle...]), open, &rejected)
    case .tooLarge, .refused:
      // All edits of the save: a transaction is refused as a whole.
      rejected.formUnion(edits.map(\.edit.id))
      try ConflictTable(database: access.database).add(
        edits.map {
          .init(kind: .denied, id: $0.edit.id, type: nil, field: nil, sent: nil, present: nil)
        },
        at: now())
    }
  }
}

extension WireModel {
  /// A string that changes when the models get other fields, so that records have to be written into rows again.
  var signature: String {
    entities.values.map { entity in
      "\(entity.shape.name)(\(entity.fields.map(\.name).joined(separator: ",")))"
    }.sorted().joined(separator: ";")
  }
}

// MARK: - The open zone

/// A zone in memory. It is valid as long as no other process has written to its tables, which ``version`` shows.
final class OpenZone {
  var zone: ClientZone<StoredRecords>
  /// The state as it was saved last. The next save writes the difference.
  var stored: StoredState
  /// The number of writes to the tables, by all processes. Stored as `turn`.
  var version: Int64

  init(_ zone: ClientZone<StoredRecords>, _ stored: StoredState, version: Int64) {
    self.zone = zone
    self.stored = stored
    self.version = version
  }

  /// The device that adds to counters.
  var device: DeviceID { zone.state.device }

  /// The record as programs see it; nil if it isn't live.
  func record(_ id: RecordID) throws -> Record? { try zone.record(id) }

  /// The live records that refer to a record.
  func referrers(of id: RecordID) throws -> [RecordID] {
    try zone.merger.overlay.referrers(of: id)
  }
}
