/// A server's storage for one zone.
///
/// One call of ``Zone`` is one transaction of the database, and calls on one zone come one after another: a database
/// begins the transaction by locking the zone's row. If a call throws, roll back and drop the `Zone`. The server
/// answers only after the commit: otherwise, clients would believe an answer that a crash undoes.
///
/// | call | reads | writes |
/// |---|---|---|
/// | ``Zone/apply(_:now:token:)`` | state, client, marks, records, keys, references, blobs | `put`, `touchBlobs`, `addMark`, `setClient`, `setState`, the last two once |
/// | ``Zone/changes(_:now:)`` | state, marks, client, `records(after:limit:)` | nothing; a snapshot is enough |
/// | ``Zone/purge(now:)`` | `mark(before:)`, state | `purge(upTo:)`, `setState` |
/// | ``Zone/sweep(now:)`` | nothing | `sweepBlobs` |
package protocol ZoneStorage: RecordStorage {
  /// The zone's counters and schema; a fresh `ZoneState` for a new zone. A server that keeps them in columns
  /// makes sure that none is lost: each belongs to an invariant.
  func state() throws(Failure) -> ZoneState
  mutating func setState(_ state: ZoneState) throws(Failure)

  /// The records with greater numbers, ascending, tombstones too.
  func records(after seq: Int64, limit: Int) throws(Failure) -> [Record]
  /// All live records of a type, by identity. Needed only where a schema grows.
  func records(ofType type: String) throws(Failure) -> [Record]
  /// Removes the tombstones with numbers up to one, and the marks below it.
  mutating func purge(upTo seq: Int64) throws(Failure)

  /// The state of a client; a new `ZoneClient` for an unknown one. Never removed while the zone exists: the
  /// transactions of a client that returns after years must still not be applied twice.
  func client(_ client: ClientID) throws(Failure) -> ZoneClient
  mutating func setClient(_ client: ClientID, _ state: ZoneClient) throws(Failure)

  /// Keeps a mark with the time at which it was made.
  mutating func addMark(_ mark: Mark, at milliseconds: Int64) throws(Failure)
  /// Whether the zone has a mark: this number with this token. It has ``Mark/start`` until the first purge.
  func contains(_ mark: Mark) throws(Failure) -> Bool
  /// The newest mark that was made before a time.
  func mark(before milliseconds: Int64) throws(Failure) -> Mark?

  /// Whether the zone has the bytes of a blob.
  func hasBlob(_ blob: BlobID) throws(Failure) -> Bool
  /// Notes that a blob was named, or no longer, at a time.
  mutating func touchBlobs(_ blobs: [BlobID], at milliseconds: Int64) throws(Failure)
  /// Removes the blobs that no live record names, and that were not touched since a time; returns them.
  mutating func sweepBlobs(untouchedSince milliseconds: Int64) throws(Failure) -> [BlobID]
}
