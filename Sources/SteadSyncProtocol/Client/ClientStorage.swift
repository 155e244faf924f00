/// A client's storage for a zone's records: the base, which is the zone as the client last showed it, and staged
/// records of pages that do not yet lead to the head.
///
/// One call of ``ClientZone`` is one transaction of the database: what the call has changed here, what it has
/// changed in ``ClientState``, and the rows of models that follow from ``ClientZone/takeChangedRecords()`` are
/// committed together or not at all. After a rollback, or when a call throws, drop the `ClientZone` and make
/// another from what the database has.
///
/// ``ClientZone/commit(_:now:)`` and ``ClientZone/retry(at:now:)`` only read here: pending changes are in the outbox of
/// the state, and their effects in memory. Only an answer to a request for changes writes: `stage` for each record of
/// the page, then `commitStaged` and `forgetTombstones` at the head, or `discardStaged` if everything is fetched again.
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
  /// Called only where a server has forgotten something.
  func held(after seq: Int64) throws(Failure) -> [Record]
  /// Removes the tombstones with numbers up to one from the base.
  mutating func forgetTombstones(upTo seq: Int64) throws(Failure)
}
