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

// MARK: - Memory

/// A zone in memory, for simulations and for tests of clients.
///
/// It is a value, so a copy is a backup of the server. Calls cost constant time or that of their results; a purge and a
/// sweep read everything.
package struct MemoryZone: ZoneStorage, Sendable {
  package typealias Entry = Record

  /// The records with their indexes.
  package private(set) var content = MemoryRecords()
  private var zoneState = ZoneState()
  private var clients: [ClientID: ZoneClient] = [:]
  /// The numbers of changes, ascending. A record's last entry is the valid one; earlier ones are skipped.
  private var feed: [(seq: Int64, id: RecordID)] = []
  /// The marks of pushes with their times, ascending by both.
  private var marks: [(mark: Mark, milliseconds: Int64)] = []
  /// The time at which each blob was touched last.
  private var blobs: [BlobID: Int64] = [:]

  package init() {}

  package func state() -> ZoneState { zoneState }
  package mutating func setState(_ state: ZoneState) { zoneState = state }

  package func record(_ id: RecordID) -> Record? { content.record(id) }
  package func holder(of token: UniqueToken) -> RecordID? { content.holder(of: token) }
  package func referrers(of target: RecordID) -> [RecordID] { content.referrers(of: target) }

  package mutating func put(_ record: Record, index: RecordIndex) {
    content.put(record, index: index)
    // A record that is only indexed again keeps its number, which is in the feed.
    if record.seq > feed.last?.seq ?? 0 { feed.append((record.seq, record.id)) }
    // Outdated entries are removed when they are the majority, so that each costs constant time on average.
    if feed.count > 64, feed.count > 2 * content.records.count {
      feed.removeAll { content.record($0.id)?.seq != $0.seq }
    }
  }

  package func records(after seq: Int64, limit: Int) -> [Record] {
    var found: [Record] = []
    var index = feed.partitionIndex { $0.seq > seq }
    while index < feed.count, found.count < limit {
      // Otherwise the record has changed since, and a later entry counts.
      if let record = content.record(feed[index].id), record.seq == feed[index].seq {
        found.append(record)
      }
      index += 1
    }
    return found
  }

  package func records(ofType type: String) -> [Record] {
    content.records.values.filter { $0.type == type && $0.isLive }.sorted { $0.id < $1.id }
  }

  package mutating func purge(upTo seq: Int64) {
    for record in content.records.values where !record.isLive && record.seq <= seq {
      content.remove(record.id)
    }
    // The mark of the number itself stays: a client that is exactly there has seen all that goes.
    marks.removeAll { $0.mark.head < seq }
  }

  package func client(_ client: ClientID) -> ZoneClient { clients[client] ?? ZoneClient() }
  package mutating func setClient(_ client: ClientID, _ state: ZoneClient) {
    clients[client] = state
  }

  package mutating func addMark(_ mark: Mark, at milliseconds: Int64) {
    marks.append((mark, milliseconds))
  }

  package func contains(_ mark: Mark) -> Bool {
    if mark == .start { return zoneState.purged == 0 }
    let index = marks.partitionIndex { $0.mark.head >= mark.head }
    return index < marks.count && marks[index].mark == mark
  }

  package func mark(before milliseconds: Int64) -> Mark? {
    marks.last { $0.milliseconds < milliseconds }?.mark
  }
}

// MARK: - Blobs

extension MemoryZone {
  /// All blobs of the zone.
  package var blobIDs: [BlobID] { blobs.keys.sorted() }

  /// Adds a blob at a time.
  package mutating func addBlob(_ blob: BlobID, at milliseconds: Int64) {
    blobs[blob] = milliseconds
  }

  package func hasBlob(_ blob: BlobID) -> Bool { blobs[blob] != nil }

  package mutating func touchBlobs(_ touched: [BlobID], at milliseconds: Int64) {
    // A blob that was never uploaded has no time to set.
    for blob in touched where blobs[blob] != nil { blobs[blob] = milliseconds }
  }

  package mutating func sweepBlobs(untouchedSince milliseconds: Int64) -> [BlobID] {
    let old = blobs.filter { $0.value < milliseconds && !content.uses($0.key) }.keys.sorted()
    for blob in old { blobs[blob] = nil }
    return old
  }
}

extension Array {
  /// The first index of an element that meets a condition, which all elements after it also meet.
  fileprivate func partitionIndex(_ condition: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
