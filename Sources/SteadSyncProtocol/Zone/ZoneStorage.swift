/// A server's storage for one zone: its records, its counters, what it knows of each client, its marks and its blobs.
///
/// One call of ``Zone`` is one transaction of the database, and calls on one zone come one after another: a database
/// begins the transaction by locking the zone's row. If a call throws, roll back and drop the `Zone`. The server
/// answers only after the commit: otherwise, clients would believe an answer that a crash undoes.
///
/// | call | reads | writes |
/// |---|---|---|
/// | ``Zone/apply(_:now:token:)`` | state, client, marks, records, keys, references, blobs | `put`, `touchBlobs`, `addMark`, `setClient`, `setState`, the last two once |
/// | ``Zone/changes(_:now:)``, ``Zone/encodedChanges(_:now:)`` | state, marks, client, `records(after:limit:)` | nothing; a snapshot is enough |
/// | ``Zone/purge(now:)`` | `mark(before:)`, state | `purge(upTo:)`, `setState` |
/// | ``Zone/sweep(now:)`` | nothing | `sweepBlobs` |
package protocol ZoneStorage: RecordStorage {
  /// A record as the feed has it: a ``Record`` in memory, an ``EncodedRecord`` in a database.
  associatedtype Entry: FeedEntry

  /// The zone's counters and schema; a fresh `ZoneState` for a new zone. A server that keeps them in columns
  /// makes sure that none is lost: each belongs to an invariant.
  func state() throws(Failure) -> ZoneState
  /// Replaces the state; the last write of a call.
  mutating func setState(_ state: ZoneState) throws(Failure)

  /// The records with greater numbers, ascending, tombstones too.
  func records(after seq: Int64, limit: Int) throws(Failure) -> [Entry]
  /// All live records of a type, by identity. Needed only where a schema grows.
  func records(ofType type: String) throws(Failure) -> [Record]
  /// Removes the tombstones with numbers up to one, and the marks below it.
  mutating func purge(upTo seq: Int64) throws(Failure)

  /// The state of a client; a new `ZoneClient` for an unknown one. Never removed while the zone exists: the
  /// transactions of a client that returns after years must still not be applied twice.
  func client(_ client: ClientID) throws(Failure) -> ZoneClient
  /// Replaces the state of a client.
  mutating func setClient(_ client: ClientID, _ state: ZoneClient) throws(Failure)

  /// Keeps a mark with the time at which it was made.
  mutating func addMark(_ mark: Mark, at milliseconds: Int64) throws(Failure)
  /// Whether the zone has a mark: this number with this token. It has ``Mark/start`` until the first purge.
  func contains(_ mark: Mark) throws(Failure) -> Bool
  /// The newest mark that was made before a time.
  func mark(before milliseconds: Int64) throws(Failure) -> Mark?

  /// Whether the zone has the bytes of a blob.
  ///
  /// A push that names a blob which is missing is answered with `blobsMissing`, and stored only once the blob is
  /// there.
  func hasBlob(_ blob: BlobID) throws(Failure) -> Bool
  /// Records the time at which a blob began or ceased to be named by a record.
  mutating func touchBlobs(_ blobs: [BlobID], at milliseconds: Int64) throws(Failure)
  /// Removes the blobs that no live record names, and that were not touched since a time; returns them.
  mutating func sweepBlobs(untouchedSince milliseconds: Int64) throws(Failure) -> [BlobID]
}

// MARK: - The state of a zone

/// The counters and the schema of a zone, which each push reads and writes.
package struct ZoneState: Hashable, Sendable {
  /// The zone's last number and the token of its push.
  package var mark = Mark.start
  /// The number up to which tombstones were purged.
  package var purged: Int64 = 0
  /// The sum of ``Record/size`` of all live records.
  package var bytes = 0
  /// The number of live records.
  package var records = 0
  /// The union of the schemas that clients have sent.
  package var schema = Schema.empty
  /// The oldest schema that may write.
  package var minimumSchema = 0
  /// The latest time of a push. A server's clock that is set back counts as having stopped.
  package var now: Int64 = 0
  /// The zone's clock, above every stamp that was accepted.
  package var clock = HybridClock()

  package init() {}
}

extension ZoneState: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "zone's state")
    self.init()
    mark = try reader.coded("mark")
    purged = try reader.count("purged")
    bytes = Int(try reader.count("bytes"))
    records = Int(try reader.count("records"))
    schema = try reader.coded("schema")
    minimumSchema = Int(try reader.count("minimumSchema"))
    now = try reader.int("now")
    clock = try reader.coded("clock")
  }

  package var syncValue: SyncValue {
    .message([
      "mark": mark.syncValue, "purged": .int(purged), "bytes": .int(Int64(bytes)),
      "records": .int(Int64(records)), "schema": schema.syncValue,
      "minimumSchema": .int(Int64(minimumSchema)), "now": .int(now), "clock": clock.syncValue,
    ])
  }
}

// MARK: - The state of a client

/// What a zone knows of one client: which of its transactions it has answered, and which it has refused.
package struct ZoneClient: Hashable, Sendable {
  /// The last transaction that was accepted or refused.
  package var last: Int64
  /// The digest of all transactions up to that one. A client compares it with its own to notice that its disk was
  /// restored or copied.
  package var digest: TransactionDigest
  /// Refused transactions that later ones may build on, and that the client may not know.
  package var refusals: [Refusal]

  package init(
    last: Int64 = 0, digest: TransactionDigest = TransactionDigest(), refusals: [Refusal] = []
  ) {
    self.digest = digest
    self.last = last
    self.refusals = refusals
  }

  /// The maximum number of refusals that are kept. Beyond it the oldest are dropped: transactions that build on them
  /// are then applied instead of refused.
  static let refusalLimit = 1000

  /// Adds a refusal.
  mutating func refuse(_ transaction: Transaction, _ reason: Refusal.Reason) {
    refusals.append(Refusal(number: transaction.number, reason: reason, ids: transaction.ids))
    if refusals.count > Self.refusalLimit { refusals.removeFirst() }
  }
}

extension ZoneClient: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "client")
    self.init(
      last: try reader.count("last"), digest: try reader.coded("digest"),
      refusals: try reader.codedIfPresent("refusals") ?? [])
  }

  package var syncValue: SyncValue {
    .members([
      "last": .int(last), "digest": digest.syncValue,
      "refusals": refusals.isEmpty ? nil : refusals.syncValue,
    ])
  }
}
