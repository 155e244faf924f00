#if Server
import SteadSQLite
import SteadSyncProtocol

/// One zone in the tables of a database, for one transaction.
///
/// Fetches only requested rows and caches them. The changes of a push are kept until ``flush()``, which writes them
/// with a few statements. Used only by the thread of the transaction's connection.
///
/// Invariant: what it answers is the database with its own changes applied. So each question looks into the changes
/// first (`changes`, `holders`, `newMarks`), then into the cache (`stored`, `storedHolders`), and then asks the
/// database. The `stored` members never change with the transaction, since ``statements()`` compares against them.
final class ZoneTables: ZoneStorage {
  typealias Failure = any Error
  typealias Entry = EncodedRecord

  /// A changed record, with the keys, references and blobs under which it is to be indexed.
  struct Change {
    var record: Record
    var index: RecordIndex
  }

  /// The connection whose transaction this is.
  let session: any SQLSession
  /// The decoded schemas of all zones.
  let schemas: SchemaCache
  /// The bytes after which a page ends, so that no more are fetched.
  let pageBytes: Int
  /// The device whose new clients are noted.
  let device: String
  /// The zone's row, with the changes of this transaction.
  var row: ZoneRow
  /// The zone's name as a parameter.
  let zone: SQLValue
  /// The rules by which the rows in the database are indexed.
  let storedSchema: Schema
  /// Whether the zone's row has to be written.
  var isStateChanged = false

  /// Records in the database; nil for those that it lacks.
  var stored: [RecordID: Record?] = [:]
  /// The last state of each record that this transaction has changed.
  var changes: [RecordID: Change] = [:]
  /// Holders of keys in the database.
  var storedHolders: [UniqueToken: RecordID?] = [:]
  /// Holders of keys of changed records.
  var holders: [UniqueToken: RecordID?] = [:]
  /// The clients that were read or changed.
  var clients: [ClientID: ZoneClient] = [:]
  /// The devices that have used clients.
  private var devices: [ClientID: String] = [:]
  /// The clients whose rows have to be written.
  var changedClients: Set<ClientID> = []
  /// The marks to insert, with the times at which they were made.
  var newMarks: [(mark: Mark, made: Int64)] = []
  /// The blobs whose grace period begins again, and when.
  var touchedBlobs: [BlobID: Int64] = [:]
  /// Whether blobs were queried, which can change without a change of the zone's records.
  var usesBlobs = false

  /// Locks a zone for a change; nil if it doesn't exist.
  static func locked(
    _ zone: String, device: String = "", in session: any SQLSession, schemas: SchemaCache,
    pageBytes: Int = SyncLimits().pageBytes
  ) throws -> ZoneTables? {
    try ZoneRow.locked(zone, in: session, schemas: schemas).map {
      ZoneTables($0, device: device, session, schemas, pageBytes)
    }
  }

  /// Reads a zone in a transaction that sees one state of the database; nil if it doesn't exist.
  static func read(
    _ zone: String, device: String = "", in session: any SQLSession, schemas: SchemaCache,
    pageBytes: Int = SyncLimits().pageBytes
  ) throws -> ZoneTables? {
    try ZoneRow.read(zone, in: session, schemas: schemas).map {
      ZoneTables($0, device: device, session, schemas, pageBytes)
    }
  }

  private init(
    _ row: ZoneRow, device: String, _ session: any SQLSession, _ schemas: SchemaCache,
    _ pageBytes: Int
  ) {
    self.row = row
    self.device = device
    self.session = session
    self.schemas = schemas
    zone = .text(row.zone)
    storedSchema = row.state.schema
    self.pageBytes = pageBytes
  }

  /// The zone's state, with the changes of this transaction.
  func state() -> ZoneState { row.state }

  /// Replaces the zone's state, which is written by ``flush()``.
  func setState(_ state: ZoneState) {
    row.state = state
    isStateChanged = true
  }
}

// MARK: Records

extension ZoneTables {
  private static let recordsByID = RowBatch.Keyed(
    "SELECT id, body FROM records WHERE zone = $1 AND id IN %")

  /// Reads records into the cache, those that aren't known yet, with one statement for up to 100. An identity without
  /// a record is cached, too.
  func prepare(_ ids: Set<RecordID>) throws {
    // The values are optionals: `stored[id] == nil` means an identity that was never queried.
    let missing = ids.filter { changes[$0] == nil && stored[$0] == nil }
    guard !missing.isEmpty else { return }
    // Nil at first: an identity that the query doesn't return has no record, and isn't queried again.
    for id in missing { stored[id] = .some(nil) }
    let keys = missing.map { SQLValue.text($0.text) }
    for row in try Self.recordsByID.rows(zone, keys, in: session) {
      let record = try StoredForm.read(row.bytes(1), as: Record.self)
      stored[record.id] = record
    }
  }

  /// A record with the changes of this transaction.
  func record(_ id: RecordID) throws -> Record? {
    if let change = changes[id] { return change.record }
    return try storedRecord(id)
  }

  /// A record as the database has it, without the changes of this transaction.
  func storedRecord(_ id: RecordID) throws -> Record? {
    if let known = stored[id] { return known }
    try prepare([id])
    return stored[id] ?? nil
  }

  /// Replaces a record and its keys.
  ///
  /// Invariant: a key has at most one holder, the live record whose index has it. A key of the record's former state
  /// is released only if the record still holds it: settling may already have given it to another record.
  func put(_ record: Record, index: RecordIndex) throws {
    let id = record.id
    for token in try self.index(of: id).tokens where try holder(of: token) == id {
      holders[token] = .some(nil)
    }
    // After the release, since the new index may have the same keys.
    for token in index.tokens { holders[token] = id }
    changes[id] = Change(record: record, index: index)
  }

  /// The entries under which a record is indexed now.
  private func index(of id: RecordID) throws -> RecordIndex {
    if let change = changes[id] { return change.index }
    return try storedIndex(of: id)
  }

  /// The entries under which the database has indexed a record.
  func storedIndex(of id: RecordID) throws -> RecordIndex {
    try storedRecord(id).map(storedSchema.index) ?? RecordIndex()
  }
}

// MARK: Keys and references

extension ZoneTables {
  /// The live record that has a unique key; nil if none has.
  func holder(of token: UniqueToken) throws -> RecordID? {
    if let changed = holders[token] { return changed }
    if let known = storedHolders[token] { return known }
    let row = try session.row(
      "SELECT id FROM uniq WHERE zone = $1 AND token = $2", [zone, .text(token.text)])
    let holder = try row.map { try Self.identifier($0.text(0), as: RecordID.self) }
    storedHolders[token] = .some(holder)
    return holder
  }

  /// The live records that refer to a record, in the order of their identities, because servers and clients have to
  /// settle in the same order. Costs a query and a pass over the changes of this transaction.
  func referrers(of target: RecordID) throws -> [RecordID] {
    let rows = try session.rows(
      "SELECT id FROM refs WHERE zone = $1 AND target = $2", [zone, .text(target.text)])
    var found = Set(try rows.map { try Self.identifier($0.text(0), as: RecordID.self) })
    // A changed record's rows in `refs` are those of its earlier state.
    for (id, change) in changes {
      if change.index.targets.contains(target) { found.insert(id) } else { found.remove(id) }
    }
    return found.sorted()
  }

  /// An identifier from a column. Throws ``EngineError/unexpectedType`` for a string that isn't
  /// one.
  static func identifier<Subject>(
    _ text: String, as type: Identifier<Subject>.Type
  ) throws -> Identifier<Subject> {
    guard let identifier = Identifier<Subject>(text) else { throw EngineError.unexpectedType }
    return identifier
  }
}

// MARK: Clients

extension ZoneTables {
  /// What the zone knows of a client; a new client has no transactions.
  func client(_ client: ClientID) throws -> ZoneClient {
    if let known = clients[client] { return known }
    let row = try Self.clientRow(client, of: zone, in: session)
    // Nil for a new client, which may belong to any device.
    devices[client] = try row?.text(0)
    let found = try row.map { try StoredForm.read($0.bytes(1), as: ZoneClient.self) }
    // Cached even if it is new, so that the row isn't queried again.
    clients[client] = found ?? ZoneClient()
    return found ?? ZoneClient()
  }

  /// A client's row: its device and its state.
  static func clientRow(
    _ client: ClientID, of zone: SQLValue, in session: any SQLSession
  ) throws -> SQLRow? {
    try session.row(
      "SELECT device, state FROM clients WHERE zone = $1 AND client = $2",
      [zone, .text(client.text)])
  }

  /// Replaces what the zone knows of a client, which is written by ``flush()``.
  func setClient(_ client: ClientID, _ state: ZoneClient) {
    clients[client] = state
    changedClients.insert(client)
  }

  /// Throws ``ServerError`` with the code `forbidden` if another device has used a client identifier. Two devices
  /// with one numbering would take each other's transactions for their own.
  func check(_ client: ClientID) throws {
    _ = try self.client(client)
    guard devices[client] ?? device == device else {
      throw ServerError(
        .forbidden, "The client identifier belongs to another device.",
        remedy: "Use a new client identifier.")
    }
  }
}

// MARK: - Flushing

extension ZoneTables {
  static let puttingRecords = RowBatch.Insert(
    into: "records", ["zone", "id", "type", "seq", "dead", "size", "body"],
    """
    ON CONFLICT (zone, id) DO UPDATE SET type = excluded.type, seq = excluded.seq,
      dead = excluded.dead, size = excluded.size, body = excluded.body
    """)
  private static let puttingKeys = RowBatch.Insert(
    into: "uniq", ["zone", "token", "id"],
    "ON CONFLICT (zone, token) DO UPDATE SET id = excluded.id")
  private static let addingReferences = RowBatch.Insert(
    into: "refs", ["zone", "target", "id"], "ON CONFLICT (zone, target, id) DO NOTHING")
  private static let addingBlobReferences = RowBatch.Insert(
    into: "blob_refs", ["zone", "sha256", "id"], "ON CONFLICT (zone, sha256, id) DO NOTHING")

  private static let removingReference =
    "DELETE FROM refs WHERE zone = $1 AND target = $2 AND id = $3"
  private static let removingBlobReference =
    "DELETE FROM blob_refs WHERE zone = $1 AND sha256 = $2 AND id = $3"

  /// Writes the changes into the database, which the caller then commits. Call it once.
  func flush() throws { try session.run(try statements()) }

  /// The statements that write the changes.
  ///
  /// Invariant: after them the tables `uniq`, `refs` and `blob_refs` are what the records' indexes say by the zone's
  /// schema. They are independent of the session, so that a draft can be written on another connection.
  ///
  /// Records are written in the order of their numbers: the index by number then grows at its end.
  func statements() throws -> [SQLStatement] {
    let changes = self.changes.values.sorted { $0.record.seq < $1.record.seq }
    var statements = Self.puttingRecords.statements(changes.map { row(of: $0.record) })
    // In any order after the records: no table has a foreign key.
    statements += keyStatements()
    statements += try indexStatements(changes)
    statements += newMarks.map { Self.adding($0.mark, to: zone, at: $0.made) }
    for (blob, time) in touchedBlobs {
      statements.append(
        SQLStatement(
          "UPDATE blobs SET touched = $1 WHERE zone = $2 AND sha256 = $3",
          [.integer(time), zone, .text(blob.text)]))
    }
    for client in changedClients {
      guard let state = clients[client] else { continue }
      statements.append(Self.saving(state, of: client, on: device, in: zone))
    }
    // Last, as the protocol's storage writes the state after everything else.
    if isStateChanged { statements.append(try row.saving(schemas)) }
    return statements
  }

  /// A record's row: its encoding, and what queries need to know of it without decoding.
  private func row(of record: Record) -> [SQLValue] {
    [
      zone, .text(record.id.text), .text(record.type), .integer(record.seq),
      .integer(record.isLive ? 0 : 1), .integer(Int64(record.size)),
      .bytes(record.encoded()),
    ]
  }

  /// The statements that release keys and those that give them to their holders. Each key is in one of them at most,
  /// so a key that goes from one record to another is one update.
  private func keyStatements() -> [SQLStatement] {
    var held: [[SQLValue]] = []
    var statements: [SQLStatement] = []
    for (token, holder) in holders {
      // Most changes leave the keys of their records as they are.
      if let known = storedHolders[token], known == holder { continue }
      if let holder {
        held.append([zone, .text(token.text), .text(holder.text)])
      } else {
        statements.append(
          SQLStatement(
            "DELETE FROM uniq WHERE zone = $1 AND token = $2", [zone, .text(token.text)]))
      }
    }
    return statements + Self.puttingKeys.statements(held)
  }

  /// The statements that write the references between records and from records to blobs, as differences from what the
  /// database has: most edits change none.
  private func indexStatements(_ changes: [Change]) throws -> [SQLStatement] {
    var statements: [SQLStatement] = []
    var (references, blobReferences): ([[SQLValue]], [[SQLValue]]) = ([], [])
    for change in changes {
      let (new, old) = (change.index, try storedIndex(of: change.record.id))
      let id = SQLValue.text(change.record.id.text)
      if new.targets != old.targets {
        let (from, to) = (old.targets.map(\.text), new.targets.map(\.text))
        statements += removals(Self.removingReference, id, from, to)
        references += additions(id, from, to)
      }
      if new.blobs != old.blobs {
        let (from, to) = (old.blobs.map(\.text), new.blobs.map(\.text))
        statements += removals(Self.removingBlobReference, id, from, to)
        blobReferences += additions(id, from, to)
      }
    }
    return statements + Self.addingReferences.statements(references)
      + Self.addingBlobReferences.statements(blobReferences)
  }

  /// The statements that remove a record's former names.
  private func removals(
    _ text: String, _ id: SQLValue, _ old: [String], _ new: [String]
  ) -> [SQLStatement] {
    Set(old).subtracting(new).map { SQLStatement(text, [zone, .text($0), id]) }
  }

  /// The rows of a record's new names.
  private func additions(_ id: SQLValue, _ old: [String], _ new: [String]) -> [[SQLValue]] {
    Set(new).subtracting(old).map { [zone, .text($0), id] }
  }

  static func adding(_ mark: Mark, to zone: SQLValue, at milliseconds: Int64) -> SQLStatement {
    SQLStatement(
      "INSERT INTO marks (zone, head, token, made) VALUES ($1, $2, $3, $4)",
      [
        zone, .integer(mark.head), .integer(Int64(bitPattern: mark.token)), .integer(milliseconds),
      ])
  }

  /// The statement that inserts or replaces a client's row. The device stays that of the first
  /// push.
  static func saving(
    _ state: ZoneClient, of client: ClientID, on device: String, in zone: SQLValue
  ) -> SQLStatement {
    SQLStatement(
      """
      INSERT INTO clients (zone, client, device, state) VALUES ($1, $2, $3, $4)
      ON CONFLICT (zone, client) DO UPDATE SET state = excluded.state
      """,
      [zone, .text(client.text), .text(device), .bytes(state.encoded())])
  }
}
#endif
