#if Server
import SteadSQLite
import SteadSyncProtocol
import Synchronization

/// The application of a push to a zone's tables, for a caller who is known and not yet authorised.
///
/// ``Zone`` merges; this type checks the caller, fetches what the push needs, and writes what has changed.
struct ZonePush: Sendable {
  let push: Push
  /// The account and the device that have sent it, by their token.
  let caller: AccessToken
  /// The maximum size of one owner's zones, in bytes.
  let quota: Int64
  /// The server's time once the request had arrived, in milliseconds since 1970. A retry of the transaction uses it
  /// again.
  let now: Int64
  /// The random bits that distinguish the push's mark from another one with the same number.
  var token = UInt64.random(in: 1...UInt64.max)

  /// The result of the push, and the zone's head after it.
  struct Outcome: Sendable {
    var answer: PushAnswer
    var head: Int64
    /// Records that got a number.
    var changed: Int64
  }

  /// Applies the push within a transaction. Changes nothing unless the answer is `taken`.
  ///
  /// Invariant: the zone's row is locked before anything of the zone is read, and until the commit. So pushes of a
  /// zone are applied one after another, and their numbers become visible in their order: a reader that has seen
  /// number 9 never finds number 8 later.
  ///
  /// - Throws: ``ServerError``: `unauthorized`, `notFound` or `forbidden` for the caller, and `forbidden` if
  ///   another device has used the client identifier; ``EngineError`` if the database fails.
  func apply(to name: String, in session: any SQLSession, schemas: SchemaCache) throws -> Outcome {
    let locked = try ZoneTables.locked(name, device: caller.device, in: session, schemas: schemas)
    let tables = try checked(locked, name, in: session)
    let outcome = try merge(into: tables)
    if case .taken = outcome.answer { try tables.flush() }
    return outcome
  }

  /// The tables of a zone into which the caller may push. Throws ``ServerError`` for any other.
  func checked(_ tables: ZoneTables?, _ name: String, in session: any SQLSession) throws
    -> ZoneTables
  {
    // Also throws if the zone doesn't exist.
    try Membership.check(caller, zone: name, atLeast: .write, in: session)
    guard let tables else { throw EngineError.unexpectedType }
    try tables.check(push.client)
    return tables
  }

  /// Applies the push without writing its changes, which stay in `tables`. Costs a few queries and the time to merge.
  func merge(into tables: ZoneTables) throws -> Outcome {
    var limits = SyncLimits()
    limits.zoneBytes = try room(for: tables.row, in: tables.session)
    let before = tables.row.state.mark.head
    try tables.prefetch(push)
    var zone = Zone(tables, limits: limits)
    // Nobody reads the events here, and collecting them costs time.
    zone.recordsEvents = false
    let answer = try zone.apply(push, now: now, token: token)
    let head = tables.row.state.mark.head
    return Outcome(answer: answer, head: head, changed: head - before)
  }

  /// The maximum size of the zone's records, given the size of the owner's other zones and of all the owner's blobs.
  func room(for zone: ZoneRow, in session: any SQLSession) throws -> Int {
    // Not below 0: an owner may be beyond a quota that was lowered.
    Int(max(quota - (try zone.otherBytes(in: session)), 0))
  }

  /// The number of the push's changes of records.
  var changes: Int { push.transactions.reduce(0) { $0 + $1.mutations.count } }
}

extension ZoneTables {
  private static let holdersByToken = RowBatch.Keyed(
    "SELECT token, id FROM uniq WHERE zone = $1 AND token IN %")

  /// Fetches in few statements what a push is likely to need: its records, the records that they refer to, and the
  /// holders of their present and new keys.
  ///
  /// It may miss something, such as the records of a cascade: ``ZoneTables`` then fetches that when it is asked.
  /// Without it a push of 100 changes would cost hundreds of round trips to PostgreSQL.
  func prefetch(_ push: Push) throws {
    // The push may bring a schema, by whose keys its records are then settled.
    let schema = push.schema ?? row.state.schema
    let mutations = push.transactions.flatMap(\.mutations)
    stored.reserveCapacity(mutations.count)
    changes.reserveCapacity(mutations.count)
    var ids = Set(mutations.map(\.id))
    for mutation in mutations where !schema.entities.isEmpty {
      guard let rules = schema.entities[mutation.type] else { continue }
      let values = mutation.values
      for (name, rule) in rules.fields where rule.reference != nil {
        if let target = values[name].flatMap(Schema.target) { ids.insert(target) }
      }
    }
    try prepare(ids)
    let tokens = try keys(of: mutations, schema)
    // Nil at first: a key that the query doesn't return has no holder, and isn't queried again.
    for token in tokens { storedHolders[token] = .some(nil) }
    let keys = tokens.map { SQLValue.text($0.text) }
    for row in try Self.holdersByToken.rows(zone, keys, in: session) {
      let token = try Self.identifier(row.text(0), as: UniqueToken.self)
      storedHolders[token] = try Self.identifier(row.text(1), as: RecordID.self)
    }
  }

  /// The keys of the records at present, and after each single mutation. A key that only arises after several
  /// mutations is missing; it is queried when it is needed.
  private func keys(of mutations: [Mutation], _ schema: Schema) throws -> Set<UniqueToken> {
    var tokens: Set<UniqueToken> = []
    for mutation in mutations where schema.entities[mutation.type]?.unique.isEmpty == false {
      let known = try storedRecord(mutation.id)
      // The keys that the database has for it, by the rules under which they were written.
      if let known { tokens.formUnion(storedSchema.tokens(of: known).map(\.token)) }
      guard let stamp = mutation.stamps.first else { continue }
      var record = known ?? Record(id: mutation.id, type: mutation.type, at: stamp)
      // Only live records have keys. The name of the life doesn't matter for them.
      if record.live.isEmpty { record.live = ["none"] }
      for (name, value) in mutation.values { record.fields[name] = Field(value, stamp) }
      tokens.formUnion(schema.tokens(of: record).map(\.token))
    }
    return tokens
  }
}

/// A push that was merged in advance on a reading connection, with the statements that write it: optimistic
/// concurrency.
///
/// With SQLite, one thread writes. Merging there would block all zones, and costs more than writing.
struct ZoneDraft: Sendable {
  /// The state that the draft builds on: the zone's row and the client's.
  fileprivate let zone: ZoneRow
  fileprivate let client: SQLRow?
  /// The bytes of the zone's records after the push.
  fileprivate let bytes: Int
  fileprivate let statements: [SQLStatement]
  fileprivate let outcome: ZonePush.Outcome
}

extension ZonePush {
  /// Merges the push in a reading transaction.
  ///
  /// - Returns: Nil if the push must be merged where it is written: the zone, as it is now, wouldn't accept it, or
  ///   it names blobs, whose rows can change without the zone's row.
  /// - Throws: As ``apply(to:in:schemas:)``.
  func draft(for name: String, in session: any SQLSession, schemas: SchemaCache) throws
    -> ZoneDraft?
  {
    // Without a lock: whoever writes the draft checks that nothing has changed since.
    let read = try ZoneTables.read(name, device: caller.device, in: session, schemas: schemas)
    let tables = try checked(read, name, in: session)
    // Copied before the merge, which changes the row of `tables`.
    let zone = tables.row
    let client = try ZoneTables.clientRow(push.client, of: tables.zone, in: session)
    let outcome = try merge(into: tables)
    // An answer that isn't `taken` could be another one a moment later, so the writing thread decides again.
    guard case .taken = outcome.answer, !tables.usesBlobs else { return nil }
    return ZoneDraft(
      zone: zone, client: client, bytes: tables.row.state.bytes,
      statements: try tables.statements(), outcome: outcome)
  }

  /// Writes a draft in a transaction. Returns nil, and does nothing, if the state that it builds on has changed.
  ///
  /// Invariant: what is written is what ``apply(to:in:schemas:)`` would have written now. The zone's row and the
  /// client's row stand for everything that the merge has read: the row has the head, the token of the last push, the
  /// clock and the schema. The token is random, so an equal row means that no push came between, even if the number
  /// was reached twice.
  func write(
    _ draft: ZoneDraft, to name: String, in session: any SQLSession, schemas: SchemaCache
  ) throws -> Outcome? {
    // Every change of a record changes the zone's row, and every push its client's: a push whose transactions are all
    // refused or known changes only that one.
    guard let zone = try ZoneRow.locked(name, in: session, schemas: schemas), zone == draft.zone,
      try ZoneTables.clientRow(push.client, of: .text(name), in: session) == draft.client
    else { return nil }
    // Checked again: the device may have been revoked, or the member removed, since the draft was made.
    try Membership.check(caller, zone: name, atLeast: .write, in: session)
    // The owner's other zones may have grown.
    // A push that makes the zone smaller is taken even beyond the quota, as ``Zone`` does it.
    guard try draft.bytes <= zone.state.bytes || draft.bytes <= room(for: zone, in: session) else {
      return nil
    }
    try session.run(draft.statements)
    return draft.outcome
  }
}

/// Applies pushes, and merges large ones in advance to spare the writing thread. Thread-safe.
final class ZonePushes: Sendable {
  /// The number of changes from which a push is merged in advance. For fewer, reading the zone costs more than
  /// merging.
  static let minimumChanges = 10

  private let engine: StorageEngine
  let schemas = SchemaCache()
  /// The number of pushes in progress for each zone.
  private let underWay = Mutex<[String: Int]>([:])

  init(_ engine: StorageEngine) { self.engine = engine }

  /// Applies a push, and returns after the commit.
  ///
  /// A push is merged in advance only if it is large, if one thread writes, and if no other push of the zone is under
  /// way. If the zone changes in spite of that, the push is merged again, by the writing thread, and its draft was
  /// only wasted.
  ///
  /// - Throws: As ``ZonePush/apply(to:in:schemas:)``, and ``EngineError`` as ``StorageEngine/write(_:_:)``.
  func apply(_ push: ZonePush, to zone: String) async throws -> ZonePush.Outcome {
    // Counted before the draft, so that of two pushes of a zone at most one is merged in advance.
    let isAlone = underWay.withLock { zones in
      zones[zone, default: 0] += 1
      return zones[zone] == 1
    }
    defer {
      underWay.withLock { zones in
        let others = (zones[zone] ?? 1) - 1
        zones[zone] = others == 0 ? nil : others
      }
    }
    let schemas = schemas
    var draft: ZoneDraft?
    // Another push of the zone would make the draft useless.
    if isAlone, engine.hasOneWriter, push.changes >= Self.minimumChanges {
      draft = try await engine.read { try push.draft(for: zone, in: $0, schemas: schemas) }
    }
    return try await engine.write(.zone(zone)) { [draft] session in
      if let draft,
        let outcome = try push.write(draft, to: zone, in: session, schemas: schemas)
      {
        return outcome
      }
      // There is no draft, or it is out of date: the push is merged here, under the zone's lock.
      return try push.apply(to: zone, in: session, schemas: schemas)
    }
  }
}
#endif
