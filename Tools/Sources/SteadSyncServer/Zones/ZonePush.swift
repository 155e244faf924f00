import SteadSyncProtocol

/// The application of a push to a zone's tables.
struct ZonePush: Sendable {
  let push: Push
  let caller: AccessToken
  /// The maximum size of one owner's zones, in bytes.
  let quota: Int64
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

  /// Applies the push without writing its changes.
  func merge(into tables: ZoneTables) throws -> Outcome {
    var limits = SyncLimits()
    limits.zoneBytes = try room(for: tables.row, in: tables.session)
    let before = tables.row.state.mark.head
    try tables.prefetch(push)
    var zone = Zone(tables, limits: limits)
    zone.keepsNotes = false
    let answer = try zone.apply(push, now: now, token: token)
    let head = tables.row.state.mark.head
    return Outcome(answer: answer, head: head, changed: head - before)
  }

  /// The maximum size of the zone's records, given the size of the owner's other zones.
  func room(for zone: ZoneRow, in session: any SQLSession) throws -> Int {
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
  func prefetch(_ push: Push) throws {
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
    for token in tokens { storedHolders[token] = .some(nil) }
    let keys = tokens.map { SQLValue.text($0.text) }
    for row in try Self.holdersByToken.rows(zone, keys, in: session) {
      let token = try Self.identifier(row.text(0), as: UniqueToken.self)
      storedHolders[token] = try Self.identifier(row.text(1), as: RecordID.self)
    }
  }

  /// The keys of the records at present, and after each single mutation.
  private func keys(of mutations: [Mutation], _ schema: Schema) throws -> Set<UniqueToken> {
    var tokens: Set<UniqueToken> = []
    for mutation in mutations where schema.entities[mutation.type]?.unique.isEmpty == false {
      let known = try storedRecord(mutation.id)
      if let known { tokens.formUnion(storedSchema.tokens(of: known).map(\.token)) }
      guard let stamp = mutation.stamps.first else { continue }
      var record = known ?? Record(id: mutation.id, type: mutation.type, at: stamp)
      if record.live.isEmpty { record.live = ["none"] }
      for (name, value) in mutation.values { record.fields[name] = Field(value, stamp) }
      tokens.formUnion(schema.tokens(of: record).map(\.token))
    }
    return tokens
  }
}
