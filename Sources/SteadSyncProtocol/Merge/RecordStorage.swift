/// The storage of a zone's records, found by identity, by unique key and by what they refer to.
///
/// ``MemoryRecords`` is one; the databases of a client and of the server are others. Calls come from one owner at a
/// time, within one transaction of the database, and read what earlier calls of this transaction have written.
/// `record(_:)` is called several times for one record: cache what was read until the transaction ends.
package protocol RecordStorage {
  /// The error of a failed call; `Never` in memory, so that the calls of a zone in memory don't throw.
  associatedtype Failure: Error

  /// The record, live or a tombstone; nil for one that was never here or was purged.
  func record(_ id: RecordID) throws(Failure) -> Record?
  /// The live record that holds a unique key. Of several, which a new constraint may find, any one.
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
  /// Does nothing, for storages that have their records in memory.
  package mutating func prepare(_ ids: Set<RecordID>) throws(Failure) {}
}

// MARK: - Records in memory

/// Records in memory, for simulations and for clients of small zones.
///
/// It has the value semantics of its dictionaries: a copy is cheap until one of the two changes. Each call costs
/// constant time, `referrers` that of sorting them.
package struct MemoryRecords: RecordStorage, Hashable, Sendable {
  /// All records, including tombstones.
  package private(set) var records: [RecordID: Record] = [:]
  private var indexes: [RecordID: RecordIndex] = [:]
  private var holders: [UniqueToken: RecordID] = [:]
  /// The records that refer to each record.
  private var sources: [RecordID: Set<RecordID>] = [:]
  /// The records that name each blob.
  private var blobSources: [BlobID: Set<RecordID>] = [:]

  package init() {}

  package func record(_ id: RecordID) -> Record? { records[id] }
  package func holder(of token: UniqueToken) -> RecordID? { holders[token] }
  package func referrers(of target: RecordID) -> [RecordID] { sources[target]?.sorted() ?? [] }

  /// Whether a live record names a blob.
  package func uses(_ blob: BlobID) -> Bool { blobSources[blob] != nil }

  /// The index of a record; empty for a tombstone.
  package func index(of id: RecordID) -> RecordIndex { indexes[id] ?? RecordIndex() }

  package mutating func put(_ record: Record, index: RecordIndex) {
    let id = record.id
    removeIndex(of: id)
    records[id] = record
    // Tombstones, and records of types without rules, need no entry.
    guard index != RecordIndex() else { return }
    indexes[id] = index
    for token in index.tokens { holders[token] = id }
    for target in index.targets { sources[target, default: []].insert(id) }
    for blob in index.blobs { blobSources[blob, default: []].insert(id) }
  }

  /// Removes a record, not even leaving a tombstone.
  package mutating func remove(_ id: RecordID) {
    removeIndex(of: id)
    records[id] = nil
  }

  /// Removes a record from all indexes, by the entry that it has there.
  private mutating func removeIndex(of id: RecordID) {
    guard let index = indexes.removeValue(forKey: id) else { return }
    // Another record may have taken the key before this one gave it up.
    for token in index.tokens where holders[token] == id { holders[token] = nil }
    for target in index.targets {
      sources[target]?.remove(id)
      if sources[target]?.isEmpty == true { sources[target] = nil }
    }
    for blob in index.blobs {
      blobSources[blob]?.remove(id)
      if blobSources[blob]?.isEmpty == true { blobSources[blob] = nil }
    }
  }
}

// MARK: - Changes over a storage

/// Changed records over an unchanged storage, in which one transaction at a time is open and can be rolled back.
///
/// On the server it has the changes of a push until they are numbered and stored. On a client it has the effects of all
/// pending transactions over the base, for as long as they are pending. Calls cost what the storage costs, and memory
/// for each changed record.
package struct Overlay<Base: RecordStorage>: RecordStorage {
  /// The storage below.
  package var base: Base
  private(set) var changed = RecordChanges()

  package init(_ base: Base) { self.base = base }

  /// The records that are changed, ascending, with their indexes.
  package var changes: [(record: Record, index: RecordIndex)] {
    changed.ids.compactMap { id in changed[id].map { ($0.record, $0.index) } }
  }

  /// The identities of the changed records, ascending.
  package var changedIDs: [RecordID] { changed.ids }

  package func record(_ id: RecordID) throws(Base.Failure) -> Record? {
    if let record = changed.record(id) { return record }
    return try base.record(id)
  }

  package func holder(of token: UniqueToken) throws(Base.Failure) -> RecordID? {
    // Changed records first, since the base's index is of their earlier states.
    if let id = changed.holder(of: token) { return id }
    return try holderInBase(token)
  }

  /// A live record other than the given one that holds a key; the smallest of several.
  func holder(of token: UniqueToken, otherThan id: RecordID) throws(Base.Failure) -> RecordID? {
    if let rival = changed.holder(of: token, otherThan: id) { return rival }
    return try holderInBase(token).flatMap { $0 == id ? nil : $0 }
  }

  /// The record of the base that holds a key. A changed record has left the base's index, whatever its keys are now.
  private func holderInBase(_ token: UniqueToken) throws(Base.Failure) -> RecordID? {
    guard let id = try base.holder(of: token), !changed.contains(id) else { return nil }
    return id
  }

  package func referrers(of target: RecordID) throws(Base.Failure) -> [RecordID] {
    let below = try base.referrers(of: target)
    if changed.isEmpty { return below }
    // A changed record refers to what its present state names, even if the base still has it in the
    // index.
    return changed.referrers(of: target).union(below.filter { !changed.contains($0) }).sorted()
  }

  /// Reserves memory for the records that a transaction is going to change.
  mutating func reserveCapacity(_ count: Int) { changed.reserveCapacity(count) }

  package mutating func put(_ record: Record, index: RecordIndex) throws(Base.Failure) {
    changed.put(record, index: index)
  }

  /// The identities of the records that the open transaction has changed, ascending.
  package var changedInTransaction: [RecordID] { changed.changedInTransaction }

  /// Keeps the changes of the open transaction. The next `put` opens another one.
  package mutating func commitTransaction() { changed.commitTransaction() }

  /// Takes the records back to what they were before the open transaction.
  package mutating func rollBackTransaction() { changed.rollBackTransaction() }

  /// Forgets all changes.
  package mutating func reset() { changed.reset() }
}

extension Overlay: Sendable where Base: Sendable {}

/// The changed records of an ``Overlay``, with an undo log of the open transaction.
///
/// Not generic, unlike the overlay: a module that names a storage of its own could not specialize the dictionaries of a
/// generic type of this module. Calls cost constant time.
///
/// Invariant: `holders` and `sources` are what the indexes of `entries` say, and the undo log takes `entries` back to
/// the last committed transaction.
struct RecordChanges: Sendable {
  /// A changed record.
  struct Entry: Sendable {
    var record: Record
    var index: RecordIndex
    /// The record's size, which limits and counters need several times.
    var size: Int
    /// The transaction that changed the record last: the undo log has each record once.
    fileprivate var transaction: Int
  }

  private var entries: [RecordID: Entry] = [:]
  /// A key has several holders until the end of the transaction, which makes keys unique.
  private var holders: [UniqueToken: Set<RecordID>] = [:]
  private var sources: [RecordID: Set<RecordID>] = [:]
  /// The undo log: the state of each record before the open transaction changed it; nil for one that was as in the
  /// base.
  private var undoLog: [(id: RecordID, entry: Entry?)] = []
  /// The number of the open transaction.
  private var transaction = 0

  var isEmpty: Bool { entries.isEmpty }
  /// The identities of changed records, ascending.
  var ids: [RecordID] { entries.keys.sorted() }

  subscript(id: RecordID) -> Entry? { entries[id] }
  func contains(_ id: RecordID) -> Bool { entries[id] != nil }
  func record(_ id: RecordID) -> Record? { entries[id]?.record }

  /// A changed record, other than the given one, that holds a key; the smallest of several, so that the order of
  /// insertion doesn't matter.
  func holder(of token: UniqueToken, otherThan id: RecordID? = nil) -> RecordID? {
    if holders.isEmpty { return nil }
    return holders[token]?.filter { $0 != id }.min()
  }

  /// The changed records that refer to one.
  func referrers(of target: RecordID) -> Set<RecordID> { sources[target] ?? [] }

  /// Reserves memory for the records that a transaction is going to change.
  mutating func reserveCapacity(_ count: Int) {
    if entries.isEmpty { entries.reserveCapacity(count) }
    undoLog.reserveCapacity(count)
  }

  mutating func put(_ record: Record, index: RecordIndex) {
    let id = record.id
    let old = entries.updateValue(
      Entry(record: record, index: index, size: record.size, transaction: transaction), forKey: id)
    // Only the state before the transaction's first change is needed for a rollback.
    if old?.transaction != transaction { undoLog.append((id, old)) }
    replace(old?.index, by: index, of: id)
  }

  /// Takes a record out of the indexes, and puts it in by its new keys.
  private mutating func replace(_ old: RecordIndex?, by new: RecordIndex?, of id: RecordID) {
    if let old {
      // Empty sets stay until ``reset()``; look-ups treat them as no holder.
      for token in old.tokens { holders[token]?.remove(id) }
      for target in old.targets { sources[target]?.remove(id) }
    }
    guard let new else { return }
    for token in new.tokens { holders[token, default: []].insert(id) }
    for target in new.targets { sources[target, default: []].insert(id) }
  }

  /// The records that the open transaction has changed, ascending.
  var changedInTransaction: [RecordID] { undoLog.map(\.id).sorted() }

  /// Ends the open transaction and keeps its changes.
  mutating func commitTransaction() {
    undoLog.removeAll(keepingCapacity: true)
    transaction += 1
  }

  /// Takes the records back to what they were before the open transaction.
  mutating func rollBackTransaction() {
    // In any order: the log has each record once.
    for (id, entry) in undoLog {
      let new = entries[id]
      entries[id] = entry
      replace(new?.index, by: entry?.index, of: id)
    }
    // Empties the log and opens the next transaction; there is nothing left to keep.
    commitTransaction()
  }

  /// Forgets all changes.
  mutating func reset() {
    entries = [:]
    holders = [:]
    sources = [:]
    // The undo log has entries that would otherwise come back with a rollback.
    commitTransaction()
  }
}
