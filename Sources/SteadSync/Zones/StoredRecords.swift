import SteadSQLite
internal import SteadSyncProtocol

/// The records of a zone in tables of a database: the base, and the pages of an unfinished fetch.
///
/// A record is one row with its encoding, which is parsed at each read. A look-up, also by a unique key, reads one row.
///
/// Records that a transaction stages and commits stay in memory until ``flush()``: most pages are staged, put into the
/// base and applied to rows within one transaction, and would be encoded and parsed for nothing.
struct StoredRecords: ClientStorage {
  /// The database of the open transaction. It is not an argument of each call, since the protocol's storage has none; a
  /// call outside ``with(_:_:)`` throws ``SyncError/notInTransaction``.
  final class Access {
    private var opened: (any SyncDatabase)?

    /// Runs a body with a database.
    func with<Result>(_ database: any SyncDatabase, _ body: () throws -> Result) rethrows -> Result
    {
      let outer = opened
      opened = database
      defer { opened = outer }
      return try body()
    }

    var database: any SyncDatabase {
      get throws {
        guard let opened else { throw SyncError.notInTransaction }
        return opened
      }
    }
  }

  let access: Access
  /// The records that the open transaction has staged and not written.
  private var staged: [RecordID: Record] = [:]
  /// A cache of the records that the open transaction has put into the base.
  private var written: [RecordID: Record] = [:]

  init(_ access: Access) { self.access = access }

  // MARK: - Reading

  /// A record of the base, and a tombstone, too. Costs one look-up and parsing, unless the open transaction has
  /// written it.
  func record(_ id: RecordID) throws -> Record? {
    if let record = written[id] { return record }
    return try access.database.text(
      "SELECT content FROM stead_sync_base WHERE id = ?1", [.text(id.text)]
    )
    .map { try Record(encoded: $0.utf8) }
  }

  /// The record that has a unique key by the base's index. Costs one look-up.
  func holder(of token: UniqueToken) throws -> RecordID? {
    try access.database.text(
      "SELECT id FROM stead_sync_unique WHERE token = ?1", [.text(token.text)]
    ).flatMap { RecordID($0) }
  }

  /// The records that refer to one by the base's index, ascending. Costs a row of the index for
  /// each.
  func referrers(of target: RecordID) throws -> [RecordID] {
    try access.database.texts(
      "SELECT source FROM stead_sync_references WHERE target = ?1 ORDER BY source",
      [.text(target.text)]
    ).compactMap { RecordID($0) }
  }

  /// The records of the base and of unfinished pages with greater numbers, in the order of the numbers. Used after a
  /// rollback ("After a rollback" in SyncProtocol.md). Reads and parses all of them.
  func allRecords(after seq: Int64) throws -> [Record] {
    var held: [RecordID: Record] = [:]
    for table in ["base", "staged"] {
      try access.database.forEach(
        "SELECT content FROM stead_sync_\(table) WHERE seq > ?1", [.integer(seq)]
      ) { row in
        let record = try Record(encoded: row.text(0).utf8)
        held[record.id] = record
      }
    }
    // Of two states the staged one is newer, and the one in memory newest.
    held.merge(staged.filter { $0.value.seq > seq }) { $1 }
    return held.values.sorted { $0.seq < $1.seq }
  }

  // MARK: - Writing

  /// Stores a record in the base, and caches it until ``flush()``.
  mutating func put(_ record: Record, index: RecordIndex) throws {
    try write(record, index)
    written[record.id] = record
  }

  /// Stores a record in the base with its index. New records, the usual case of a first fetch, cost one statement less.
  private func write(_ record: Record, _ index: RecordIndex) throws {
    let database = try access.database
    let id = SQLValue.text(record.id.text)
    let values = values(of: record)
    try database.run(
      "INSERT INTO stead_sync_base (id, seq, live, content) VALUES (?1, ?2, ?3, ?4) "
        + "ON CONFLICT DO NOTHING", values)
    if database.changedRows == 0 {
      // Only a record that was here can have an index to remove.
      try database.run(
        "UPDATE stead_sync_base SET seq = ?2, live = ?3, content = ?4 WHERE id = ?1", values)
      try database.run("DELETE FROM stead_sync_unique WHERE id = ?1", [id])
      try database.run("DELETE FROM stead_sync_references WHERE source = ?1", [id])
    }
    for token in index.tokens {
      // Takes the key from another record, as where two exchange their keys: that one's new index follows.
      try database.run(
        "INSERT INTO stead_sync_unique VALUES (?1, ?2) "
          + "ON CONFLICT DO UPDATE SET id = excluded.id",
        [.text(token.text), id])
    }
    for target in index.targets {
      try database.run(
        "INSERT OR IGNORE INTO stead_sync_references VALUES (?1, ?2)", [.text(target.text), id])
    }
  }

  /// The columns of a record: identity, number, whether it is live, and its encoding.
  private func values(of record: Record) -> [SQLValue] {
    [
      .text(record.id.text), .integer(record.seq), .integer(record.isLive ? 1 : 0),
      .text(String(decoding: record.encoded(), as: UTF8.self)),
    ]
  }

  /// Keeps a record in memory, apart from the base, until ``flush()`` or
  /// ``commitStaged(replacing:schema:)``.
  mutating func stage(_ record: Record) { staged[record.id] = record }

  /// Writes what is staged in memory, and empties the cache. Must be called before a transaction ends: the next one may
  /// follow a write of another process.
  mutating func flush() throws {
    written = [:]
    if staged.isEmpty { return }
    let database = try access.database
    for record in staged.values {
      try database.run(
        "INSERT INTO stead_sync_staged (id, seq, live, content) VALUES (?1, ?2, ?3, ?4) "
          + "ON CONFLICT DO UPDATE SET seq = excluded.seq, live = excluded.live, "
          + "content = excluded.content", values(of: record))
    }
    staged = [:]
  }

  /// Invariant: afterwards the base is what the server had at the page's head, and its index is that of the schema.
  /// It is one transaction with the cursor: a base without its cursor would be fetched again, and a cursor without
  /// its base would never be.
  mutating func commitStaged(
    replacing: Bool, schema: SteadSyncProtocol.Schema
  ) throws -> Set<RecordID> {
    let database = try access.database
    var changed: Set<RecordID> = []
    var records = staged
    try database.forEach("SELECT content FROM stead_sync_staged") { row in
      let record = try Record(encoded: row.text(0).utf8)
      // What this transaction has staged is newer.
      if records[record.id] == nil { records[record.id] = record }
    }
    if replacing {
      // The records that the new base lacks were deleted while this device was away: their rows must go, too.
      changed = Set(try SyncTables.baseIDs(database))
      try SyncTables.clearBase(database)
      // The cache has records of the old base.
      written = [:]
    }
    // By number, so that a key that moved between records ends at the last one.
    for record in records.values.sorted(by: { $0.seq < $1.seq }) {
      try put(record, index: schema.index(of: record))
    }
    changed.formUnion(records.keys)
    try discardStaged()
    return changed
  }

  /// Removes what is staged, in memory and in the table. The base stays.
  mutating func discardStaged() throws {
    staged = [:]
    try access.database.run("DELETE FROM stead_sync_staged")
  }

  /// The server has purged the same tombstones, so no page can name them again.
  mutating func removeTombstones(upTo seq: Int64) throws {
    // The zone was never purged.
    if seq <= 0 { return }
    written = written.filter { $0.value.isLive || $0.value.seq > seq }
    try access.database.run(
      "DELETE FROM stead_sync_base WHERE live = 0 AND seq <= ?1", [.integer(seq)])
  }

  /// Costs reading and writing the whole base; done only when the models' rules have changed.
  mutating func reindex(by schema: SteadSyncProtocol.Schema) throws -> Set<RecordID> {
    let database = try access.database
    var live: Set<RecordID> = []
    var last: Int64 = 0
    while true {
      // A batch at a time, so that no rows change while they are read.
      var batch: [Record] = []
      try database.forEach(
        "SELECT content FROM stead_sync_base WHERE seq > ?1 ORDER BY seq LIMIT 1000",
        [.integer(last)]
      ) { batch.append(try Record(encoded: $0.text(0).utf8)) }
      guard let newest = batch.last else { return live }
      for record in batch {
        // Not by `put`, which would cache the whole base.
        try write(record, schema.index(of: record))
        if record.isLive { live.insert(record.id) }
      }
      last = newest.seq
    }
  }
}

// MARK: - The state besides records

/// A client's state of a zone besides records, in tables: a row for each transaction of the outbox and the
/// quarantine, and one row for the rest.
///
/// It keeps what it has saved, and writes the difference. So saving costs what has changed, however long the outbox is.
struct StoredState {
  /// The state in the tables; nil if they have none, or if it isn't known.
  private var saved: ClientState?

  /// Reads the state; nil if none was saved.
  mutating func load(_ database: any SyncDatabase) throws -> ClientState? {
    guard let text = try SyncTables.text("state", database) else { return nil }
    var state = try ClientState(encoded: text.utf8)
    state.outbox = try database.texts(
      "SELECT content FROM stead_sync_outbox ORDER BY number"
    ).map { try Transaction(encoded: $0.utf8) }
    state.quarantine = try database.texts(
      "SELECT content FROM stead_sync_quarantine ORDER BY place"
    ).map { try ClientState.Quarantined(encoded: $0.utf8) }
    saved = state
    return state
  }

  /// Saves the state in the open transaction. If that is rolled back, call ``invalidate()``, or drop this value.
  mutating func save(_ state: ClientState, _ database: any SyncDatabase) throws {
    try saveOutbox(state, database)
    // Usually empty, and seldom changed: written as a whole.
    if state.quarantine != saved?.quarantine ?? [] {
      try database.run("DELETE FROM stead_sync_quarantine")
      for (place, item) in state.quarantine.enumerated() {
        try database.run(
          "INSERT INTO stead_sync_quarantine VALUES (?1, ?2)",
          [.integer(Int64(place)), .text(text(item))])
      }
    }
    // The rest is one row of some hundred bytes, written each time.
    var head = state
    // These two have tables of their own.
    head.outbox = []
    head.quarantine = []
    try SyncTables.set("state", .text(text(head)), database)
    saved = state
  }

  /// The outbox loses transactions at its start and gets new ones at its end, so numbers tell which rows to write. If
  /// the client has changed, all transactions are new.
  ///
  /// Invariant: the rows are the outbox, by number. A change within the outbox would be missed; the client makes none
  /// without taking a new identifier.
  private func saveOutbox(_ state: ClientState, _ database: any SyncDatabase) throws {
    var known: ClosedRange<Int64>?
    if let saved, saved.client == state.client, let first = saved.outbox.first?.number,
      let last = saved.outbox.last?.number
    {
      known = first...last
    } else {
      try database.run("DELETE FROM stead_sync_outbox")
    }
    if let known {
      // An empty outbox has lost all of its rows.
      let first = state.outbox.first?.number ?? .max
      if first > known.lowerBound {
        try database.run(
          "DELETE FROM stead_sync_outbox WHERE number < ?1", [.integer(first)])
      }
    }
    for transaction in state.outbox where known.map({ transaction.number > $0.upperBound }) ?? true
    {
      try database.run(
        "INSERT INTO stead_sync_outbox VALUES (?1, ?2)",
        [.integer(transaction.number), .text(text(transaction))])
    }
  }

  /// Makes the next save write everything, after a transaction was rolled back.
  mutating func invalidate() { saved = nil }

  /// A value's JSON, as the tables have it.
  private func text(_ value: some SyncCodable) -> String {
    String(decoding: value.encoded(), as: UTF8.self)
  }
}
