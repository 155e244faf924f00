import Foundation
import SteadEncoding
import SteadRecords
import SteadSQLite
internal import SteadSyncProtocol

/// One zone, with the store whose rows it syncs.
///
/// All work is done in turns. A turn is one transaction of the store. First it moves new changes of the history into
/// the outbox, then it does its own work, then it writes changed records into their rows. So a crash leaves a whole
/// turn or none, and a local edit always gets its stamp before remote changes are applied.
final class RecordZone: SyncedZone {
  /// The author of remote changes in the store's history.
  static let author = "sync"
  /// The name of the sync among the history's readers.
  static let reader = "stead.sync"
  /// The number of edits that a comparison of all rows puts into one transaction.
  private static let batch = 300

  let id: ZoneID
  let rows: StoreRows
  private let model: WireModel
  private let access = StoredRecords.Access()
  private let now: @Sendable () -> Int64
  private var open: OpenZone?

  /// The zone in memory; valid as long as no other process has had a turn since, which the tables show.
  private final class OpenZone: ZoneView {
    var zone: ClientZone<StoredRecords>
    var stored: StoredState
    var turn: Int64

    init(_ zone: ClientZone<StoredRecords>, _ stored: StoredState, turn: Int64) {
      self.zone = zone
      self.stored = stored
      self.turn = turn
    }

    var device: DeviceID { zone.state.device }

    func record(_ id: RecordID) throws -> Record? { try zone.record(id) }

    func referrers(of id: RecordID) throws -> [RecordID] {
      try zone.merger.overlay.referrers(of: id)
    }
  }

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

  // MARK: - Turns

  /// Runs a body in a turn.
  @discardableResult
  func turn<Result>(
    _ body: (inout ClientZone<StoredRecords>) throws -> Result
  ) throws -> Result {
    do {
      return try rows.apply(by: Self.author) { transaction in
        try access.with(transaction) { try run(transaction, body) }
      }
    } catch {
      // What is in memory may be ahead of the tables.
      open = nil
      throw error
    }
  }

  private func run<Result>(
    _ transaction: RowTransaction, _ body: (inout ClientZone<StoredRecords>) throws -> Result
  ) throws -> Result {
    let (open, news) = try opened(transaction)
    var shown = news
    shown.formUnion(try takeHistory(transaction, open))
    let acknowledged = PendingEdits(open.zone.state)
    let result = try body(&open.zone)
    try ConflictTable(database: transaction).note(
      acknowledged.lost(in: open.zone), at: now())
    shown.formUnion(open.zone.takeChangedRecords())
    // Conflicts are found from the result for each pending edit, however it came about.
    _ = open.zone.takeNotes()
    try RowRenderer(model, transaction, open).show(shown)
    try open.zone.merger.overlay.base.endTransaction()
    // A page that isn't shown yet still needs them.
    if try transaction.integer("SELECT 1 FROM stead_sync_staged LIMIT 1") == nil {
      try BlobTable(database: transaction).forgetFetched()
    }
    try open.stored.save(open.zone.state, transaction)
    open.turn += 1
    try SyncTables.set("turn", .integer(open.turn), transaction)
    // This transaction's own changes came from the records.
    let place = try transaction.lastCommit() + 1
    try SyncTables.set("history", .integer(place), transaction)
    try transaction.setHistoryReader(Self.reader, to: place)
    return result
  }

  /// The zone as stored in the tables, and the records to show again because the models have changed.
  private func opened(
    _ transaction: RowTransaction
  ) throws -> (open: OpenZone, news: Set<RecordID>) {
    try SyncTables.prepare(transaction)
    if let open, try SyncTables.integer("turn", transaction) == open.turn { return (open, []) }
    if let known = try SyncTables.text("zone", transaction), known != id.text {
      // The configuration now names another zone, which takes over the rows.
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
    var news: Set<RecordID> = []
    if try SyncTables.text("models", transaction) != model.signature {
      news = Set(
        try transaction.texts("SELECT id FROM stead_sync_base").compactMap { RecordID($0) })
      try SyncTables.set("models", .text(model.signature), transaction)
    }
    let zone = try ClientZone(state, storage: records, schema: schema)
    let turn = try SyncTables.integer("turn", transaction) ?? 0
    let result = OpenZone(zone, stored, turn: turn)
    open = result
    return (result, news)
  }

  private func storedSchema(
    _ transaction: RowTransaction
  ) throws -> SteadSyncProtocol.Schema? {
    try SyncTables.text("schema", transaction).map {
      try SteadSyncProtocol.Schema(encoded: $0.utf8)
    }
  }

  // MARK: - Reading

  func peek<Result>(_ body: (ClientZone<StoredRecords>) throws -> Result) throws -> Result {
    if let open, try isCurrent(open) { return try body(open.zone) }
    // A turn would be news for other processes with engines, whose turns would be news here, without end.
    let read = try rows.read { transaction in
      try access.with(transaction) { try reopened(transaction) }
    }
    guard let read else { return try turn { try body($0) } }
    open = read
    return try body(read.zone)
  }

  /// The zone as another process has left it; nil if a turn has something to write.
  private func reopened(_ transaction: RowTransaction) throws -> OpenZone? {
    guard try SyncTables.isPresent(transaction),
      try SyncTables.text("zone", transaction) == id.text,
      try SyncTables.text("models", transaction) == model.signature,
      try SyncTables.integer("history", transaction) == transaction.lastCommit(),
      let schema = try storedSchema(transaction), model.schema(extending: schema) == schema
    else { return nil }
    var stored = StoredState()
    guard let state = try stored.load(transaction), state.schemaVersion == schema.version,
      state.schemaDigest == schema.digest
    else { return nil }
    return OpenZone(
      try ClientZone(state, storage: StoredRecords(access), schema: schema), stored,
      turn: try SyncTables.integer("turn", transaction) ?? 0)
  }

  private func isCurrent(_ open: OpenZone) throws -> Bool {
    try rows.read { transaction in
      guard try SyncTables.isPrepared(transaction),
        try SyncTables.integer("turn", transaction) == open.turn
      else { return false }
      return try SyncTables.integer("history", transaction) == transaction.lastCommit()
    }
  }

  /// Whether programs have saved anything since the last turn. Costs one look-up.
  func hasNews() throws -> Bool {
    try rows.read { transaction in
      guard try SyncTables.isPrepared(transaction) else { return true }
      return try SyncTables.integer("history", transaction) != transaction.lastCommit()
    }
  }

  /// How far pages were read; nil until they were read to the end once.
  func cursor() throws -> Cursor? {
    try peek { $0.state.anchor == nil ? nil : $0.state.cursor }
  }

  func counts() throws -> (pending: Int, quarantined: Int, unshown: Int) {
    try rows.read { transaction in
      guard try SyncTables.isPrepared(transaction) else { return (0, 0, 0) }
      func count(_ table: String) throws -> Int {
        Int(try transaction.integer("SELECT count(*) FROM stead_sync_\(table)") ?? 0)
      }
      return (try count("outbox"), try count("quarantine"), try count("unshown"))
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

  func forget(_ conflict: SyncConflict) throws { try changeConflicts { try $0.forget(conflict) } }

  private func changeConflicts(_ body: (ConflictTable) throws -> Void) throws {
    try rows.apply(by: Self.author) { transaction in
      guard try SyncTables.isPrepared(transaction) else { return }
      try body(ConflictTable(database: transaction))
    }
  }

  // MARK: - Blobs

  /// The bytes of a blob, from a row of this device; nil if no row has them any more.
  func bytes(of blob: BlobID) throws -> Data? {
    try rows.read { try BlobTable(database: $0).bytes(of: blob, model, $0) }
  }

  /// The blobs that records name and that this device lacks.
  func missingBlobs(of records: [Record]) throws -> [BlobID] {
    let names = records.filter(\.isLive).flatMap { record in
      // Only those that a row of this app version can hold.
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

  /// Stores fetched blobs until the page that names them is applied.
  func keep(_ blob: BlobID, _ bytes: Data) throws {
    guard SHA256.hexadecimal(bytes) == blob.text else {
      throw SyncError.unreachable(reason: "a large value arrived damaged")
    }
    try rows.apply(by: Self.author) { try BlobTable(database: $0).keep(blob, bytes) }
  }

  // MARK: - The history

  /// Moves the changes of programs into the outbox; returns the records whose rows must be written again.
  private func takeHistory(
    _ transaction: RowTransaction, _ open: OpenZone
  ) throws -> Set<RecordID> {
    var undone: Set<RecordID> = []
    guard let place = try SyncTables.integer("history", transaction),
      try transaction.hasHistory(after: place)
    else {
      try compareAll(transaction, open, &undone)
      return undone
    }
    try transaction.forEachTransaction(after: place) { changes in
      var collector = ChangeCollector(model, transaction, open)
      try collector.add(changes.changes)
      // In the order of the edits, so that each gets its own time: a save may have some that are much older.
      try commit(collector.edits.sorted { $0.milliseconds < $1.milliseconds }, open, &undone)
    }
    return undone
  }

  /// Collects all rows that differ from their records, and the deletions of rows that no longer exist.
  private func compareAll(
    _ transaction: RowTransaction, _ open: OpenZone, _ undone: inout Set<RecordID>
  ) throws {
    let time = now()
    for entity in model.entities.values.sorted(by: { $0.shape.name < $1.shape.name }) {
      var numbers: [Int64] = []
      try transaction.forEachNumber(of: entity.shape) { numbers.append($0) }
      for start in stride(from: 0, to: numbers.count, by: Self.batch) {
        var collector = ChangeCollector(model, transaction, open)
        for number in numbers[start..<min(start + Self.batch, numbers.count)] {
          guard let content = try transaction.content(of: entity.shape, number) else { continue }
          try collector.compare(content, entity, time)
        }
        try commit(collector.edits, open, &undone)
      }
    }
    var gone: [(edit: Edit, milliseconds: Int64)] = []
    let map = RowMap(database: transaction)
    try map.forEach { id, row in
      let shape = model.entities.values.first { $0.shape.root == row.root }?.shape
      if let shape, try transaction.entityName(of: row.number, in: shape) == nil,
        try open.record(id) != nil
      {
        gone.append((.delete(id: id), time))
      }
    }
    for start in stride(from: 0, to: gone.count, by: Self.batch) {
      try commit(Array(gone[start..<min(start + Self.batch, gone.count)]), open, &undone)
    }
  }

  /// Commits the edits of one transaction of the store, split where a server would not accept them in one.
  private func commit(
    _ edits: [(edit: Edit, milliseconds: Int64)], _ open: OpenZone, _ undone: inout Set<RecordID>
  ) throws {
    guard !edits.isEmpty else { return }
    switch try open.zone.commit(edits) {
    case .committed: return
    case .unknown(let id):
      // Another device deleted it.
      undone.insert(id)
      try commit(edits.filter { $0.edit.id != id }, open, &undone)
    case .tooLarge where edits.count > 1:
      let middle = edits.count / 2
      try commit(Array(edits[..<middle]), open, &undone)
      try commit(Array(edits[middle...]), open, &undone)
    case .tooLarge, .refused:
      undone.formUnion(edits.map(\.edit.id))
      try ConflictTable(database: access.database).note(
        edits.map {
          .init(kind: .denied, id: $0.edit.id, type: nil, field: nil, sent: nil, present: nil)
        },
        at: now())
    }
  }
}

extension WireModel {
  /// Changes when records may have to be shown differently.
  var signature: String {
    entities.values.map { entity in
      "\(entity.shape.name)(\(entity.fields.map(\.name).joined(separator: ",")))"
    }.sorted().joined(separator: ";")
  }
}
