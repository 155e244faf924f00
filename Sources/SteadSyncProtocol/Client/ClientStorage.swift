/// A client's storage for a zone's records: the base, which is the zone as the client last showed it, and staged
/// records of pages that do not yet lead to the head.
///
/// One call of ``ClientZone`` is one transaction of the database: what the call has changed here, what it has
/// changed in ``ClientState``, and the rows of models that follow from ``ClientZone/takeChangedRecords()`` are
/// committed together or not at all: a state that is saved without its records has a cursor beyond changes that never
/// reached the base. After a rollback, or when a call throws, drop the `ClientZone` and make another from what the
/// database has.
///
/// ``ClientZone/commit(_:now:)`` and ``ClientZone/retry(at:now:)`` only read here: pending changes are in the outbox of
/// the state, and their effects in memory. Only an answer to a request for changes writes: `stage` for each record of
/// the page, then `commitStaged` and `removeTombstones` at the head, or `discardStaged` if everything is fetched again.
/// Nothing else calls `put`.
package protocol ClientStorage: RecordStorage {
  /// Stores a record of a page apart from the base. It replaces a staged record with the same identity. `record(_:)`,
  /// `holder(of:)` and `referrers(of:)` don't see it yet.
  mutating func stage(_ record: Record) throws(Failure)
  /// Puts the staged records into the base, or makes them the base, in the order of their numbers and indexed by a
  /// schema. Nothing is staged afterwards.
  ///
  /// Returns the identities of all records that it has put, and of those that it has removed because the new base lacks
  /// them.
  mutating func commitStaged(replacing: Bool, schema: Schema) throws(Failure) -> Set<RecordID>
  /// Indexes each record of the base again. Called if a zone is opened with another schema than last time, so that new
  /// constraints and references find old records.
  ///
  /// Two records may then hold the same key, by a constraint that the zone's schema lacks: either may be its holder,
  /// and the server merges them when the client pushes its schema. So an index of keys isn't unique in the database.
  ///
  /// Returns the identities of all live records of the base.
  mutating func reindex(by schema: Schema) throws(Failure) -> Set<RecordID>
  /// Removes the staged records; the base stays.
  mutating func discardStaged() throws(Failure)
  /// Base and staged records with greater numbers, tombstones too, ascending; of two states the staged one.
  ///
  /// Called only after a rollback of the server: these are the records that the client brings back. Reads all records.
  ///
  /// "After a rollback" in SyncProtocol.md, step 1.
  func allRecords(after seq: Int64) throws(Failure) -> [Record]
  /// Removes the tombstones with numbers up to one from the base. The server has purged the same ones, so no page
  /// names them again.
  mutating func removeTombstones(upTo seq: Int64) throws(Failure)
}

// MARK: - The state besides records

/// A client's saved state of a zone besides its records. Save it in the transaction that changes the records.
///
/// The outbox may be long, so keep it as rows:
///
/// | call | changes of ``outbox`` and ``quarantine`` |
/// |---|---|
/// | commit, retry | one transaction is appended to the outbox |
/// | a page | transactions up to ``acknowledged`` leave the outbox; refused ones are appended to the quarantine |
/// | discard, retry | one leaves the quarantine |
/// | any call that changes ``client`` | all rows change |
///
/// A transaction in the outbox doesn't change otherwise. All other members are small.
package struct ClientState: Hashable, Sendable {
  /// The purpose of reading pages.
  package enum Phase: String, Hashable, Sendable {
    /// A first fetch: each page goes to the base at once, since there is nothing before that it could contradict.
    case first
    /// Following the zone: pages are staged until one leads to the head.
    case following
    /// A fetch that replaces the base at the head, after a purge or a restored backup.
    case replacing
  }

  /// A transaction that the server has refused.
  package struct Quarantined: Hashable, Sendable {
    /// The client that sent it.
    package var client: ClientID
    package var transaction: Transaction
    /// Why the server refused it, or what the client found.
    package var reason: Refusal.Reason
    /// The device's own counter entries before the transaction, by record and field; null for none.
    package var counters: [RecordID: [String: SyncValue]]

    package init(
      client: ClientID, transaction: Transaction, reason: Refusal.Reason,
      counters: [RecordID: [String: SyncValue]] = [:]
    ) {
      self.counters = counters
      self.client = client
      self.transaction = transaction
      self.reason = reason
    }
  }

  /// Under which the transactions are numbered.
  package var client: ClientID
  /// Whose stamps this client makes.
  package var device: DeviceID
  /// What pages are read for.
  package var phase = Phase.first
  /// How far pages have been read.
  package var cursor: Cursor?
  /// How often a fetch was restarted; sent with each request, so that an answer to an earlier fetch is recognised.
  package var round: Int64 = 0
  /// The mark of what is shown, which each push names; nil until a page has led to the head. Nothing is pushed before.
  package var anchor: Mark?
  /// Marks of what was shown, newest first, at most ``markLimit``.
  package var marks: [Mark] = []
  /// The last transaction that a page has included or refused.
  package var acknowledged: Int64 = 0
  /// The digest of the transactions up to that one.
  package var digest = TransactionDigest()
  /// The version of the schema with which the zone was last opened; 0 for none.
  package var schemaVersion = 0
  /// Its digest: a schema may change without its version, during development or where two branches of a program give
  /// one version to two schemas. Nil makes all records be indexed again.
  package var schemaDigest: UInt64?
  /// The last number given to a transaction.
  package var lastNumber: Int64 = 0
  /// Transactions that are not yet part of the base, in order.
  package var outbox: [Transaction] = []
  /// The transactions that the server has refused, oldest first, until the program retries or discards them.
  package var quarantine: [Quarantined] = []
  /// The clock that stamps edits. Saved, so that it stays above what was seen even if the device's clock is set back.
  package var clock = HybridClock()

  /// The maximum number of marks.
  package static let markLimit = 40

  /// The state of a client that has seen nothing and sent nothing.
  package init(client: ClientID, device: DeviceID) {
    self.client = client
    self.device = device
  }
}

extension ClientState {
  /// Adds a mark. Beyond ``markLimit``, the mark whose neighbours are nearest, in proportion to its age, is dropped. So
  /// the kept marks thin out exponentially with age: after a rollback, few records too many are sent whether the backup
  /// was an hour or a year old. The newest and the oldest always stay.
  ///
  /// The rule is that of "Marks of a client" in SyncProtocol.md. Another one would cost only longer rollbacks:
  /// servers don't check it.
  mutating func add(_ mark: Mark) {
    // A page without news has the mark that is there already.
    guard marks.first != mark else { return }
    marks.insert(mark, at: 0)
    guard marks.count > Self.markLimit else { return }
    let newest = Double(mark.head)
    // The range leaves out the newest and the oldest.
    let nearest = (1..<(marks.count - 1)).min { closeness($0, newest) < closeness($1, newest) }
    if let nearest { marks.remove(at: nearest) }
  }

  /// The distance of a mark's neighbours, in proportion to how far back they are.
  private func closeness(_ index: Int, _ newest: Double) -> Double {
    let (after, before) = (Double(marks[index - 1].head), Double(marks[index + 1].head))
    return (after - before) / max(newest - before, 1)
  }
}

// MARK: - Coding

extension ClientState: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "client's state")
    self.init(client: try reader.identifier("client"), device: try reader.identifier("device"))
    guard let phase = Phase(rawValue: try reader.string("phase")) else {
      throw reader.problem("phase", "a phase that is known")
    }
    self.phase = phase
    round = try reader.count("round")
    cursor = try reader.codedIfPresent("cursor")
    anchor = try reader.codedIfPresent("anchor")
    marks = try reader.codedIfPresent("marks") ?? []
    acknowledged = try reader.count("acknowledged")
    digest = try reader.coded("digest")
    schemaVersion = Int(try reader.count("schemaVersion"))
    schemaDigest = try reader.digestIfPresent("schemaDigest")
    lastNumber = try reader.count("numbered")
    outbox = try reader.codedIfPresent("outbox") ?? []
    quarantine = try reader.codedIfPresent("quarantine") ?? []
    clock = try reader.coded("clock")
  }

  package var syncValue: SyncValue {
    .message([
      "client": .identifier(client), "device": .identifier(device),
      "round": .int(round), "phase": .string(phase.rawValue), "cursor": cursor?.syncValue,
      "anchor": anchor?.syncValue,
      "marks": marks.isEmpty ? nil : marks.syncValue, "acknowledged": .int(acknowledged),
      "digest": digest.syncValue,
      "schemaVersion": .int(Int64(schemaVersion)),
      "schemaDigest": (schemaDigest?.digits).map { .string($0) }, "numbered": .int(lastNumber),
      "outbox": outbox.isEmpty ? nil : outbox.syncValue,
      "quarantine": quarantine.isEmpty ? nil : quarantine.syncValue, "clock": clock.syncValue,
    ])
  }
}

extension ClientState.Quarantined: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "refused transaction")
    var counters: [RecordID: [String: SyncValue]] = [:]
    if reader.value("counters") != nil {
      for (id, fields) in try reader.object("counters") {
        guard let id = RecordID(id), let fields = fields.object else {
          throw reader.problem("counters", "fields by record")
        }
        counters[id] = fields
      }
    }
    self.init(
      client: try reader.identifier("client"), transaction: try reader.coded("transaction"),
      reason: try reader.coded("reason"), counters: counters)
  }

  package var syncValue: SyncValue {
    let byRecord = Dictionary(
      uniqueKeysWithValues: counters.map { ($0.text, SyncValue.object($1)) })
    return .members([
      "client": .identifier(client), "transaction": transaction.syncValue,
      "reason": reason.syncValue, "counters": byRecord.isEmpty ? nil : .object(byRecord),
    ])
  }
}

// MARK: - In memory

/// A client's records in memory, for simulations, tests and small zones.
package struct MemoryClientStorage: ClientStorage, Hashable, Sendable {
  /// The zone as the client last showed it.
  package private(set) var base = MemoryRecords()
  private var staged: [RecordID: Record] = [:]

  package init() {}

  package func record(_ id: RecordID) -> Record? { base.record(id) }
  package func holder(of token: UniqueToken) -> RecordID? { base.holder(of: token) }
  package func referrers(of target: RecordID) -> [RecordID] { base.referrers(of: target) }
  package mutating func put(_ record: Record, index: RecordIndex) { base.put(record, index: index) }

  package mutating func stage(_ record: Record) { staged[record.id] = record }

  package mutating func commitStaged(replacing: Bool, schema: Schema) -> Set<RecordID> {
    var changed = Set(staged.keys)
    if replacing {
      // What the new base lacks has changed, too: it is gone.
      changed.formUnion(base.records.keys)
      base = MemoryRecords()
    }
    // By number, so that a key that moved between records ends at the last one.
    for record in staged.values.sorted(by: { $0.seq < $1.seq }) {
      base.put(record, index: schema.index(of: record))
    }
    staged = [:]
    return changed
  }

  package mutating func reindex(by schema: Schema) -> Set<RecordID> {
    // In the order of numbers, as in `commitStaged`: of two holders of a key the last one is found.
    for record in base.records.values.sorted(by: { $0.seq < $1.seq }) {
      base.put(record, index: schema.index(of: record))
    }
    return Set(base.records.values.filter(\.isLive).map(\.id))
  }

  package mutating func discardStaged() { staged = [:] }

  package func allRecords(after seq: Int64) -> [Record] {
    // Of two states the staged one, which is newer.
    base.records.merging(staged) { $1 }.values.filter { $0.seq > seq }.sorted { $0.seq < $1.seq }
  }

  package mutating func removeTombstones(upTo seq: Int64) {
    // The usual case, a zone that was never purged, costs no pass over all records.
    guard seq > 0 else { return }
    for record in base.records.values where !record.isLive && record.seq <= seq {
      base.remove(record.id)
    }
  }
}
