/// The storage of a zone's records, found by identity, by unique key and by what they refer to.
///
/// ``MemoryRecords`` is one; databases are others. Calls come from one owner at a time, within one transaction of the
/// database, and read what earlier calls of this transaction have written. `record(_:)` is called several times for one
/// record: keep what was read until the transaction ends.
package protocol RecordStorage {
  /// What a failed call throws; `Never` in memory.
  associatedtype Failure: Error

  /// The record, live or a tombstone; nil for one that was never here or was purged.
  func record(_ id: RecordID) throws(Failure) -> Record?
  /// The live record that holds a unique key.
  func holder(of token: UniqueToken) throws(Failure) -> RecordID?
  /// The live records that refer to one, ascending. The target need not exist: these are the records that wait
  /// for a missing parent.
  func referrers(of target: RecordID) throws(Failure) -> [RecordID]
  /// Stores a record in place of its earlier state, and replaces its index: its tokens, targets and blobs.
  mutating func put(_ record: Record, index: RecordIndex) throws(Failure)
  /// Announces the records that are read next, so that a database can fetch them at once. Does nothing by default.
  mutating func prepare(_ ids: Set<RecordID>) throws(Failure)
}

extension RecordStorage {
  package mutating func prepare(_ ids: Set<RecordID>) throws(Failure) {}
}
