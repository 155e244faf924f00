/// Records in memory, for simulations and for clients of small zones.
///
/// A value: a copy costs nothing until one of the two changes. Each call costs constant time, `referrers` that of
/// sorting them.
package struct MemoryRecords: RecordStorage, Hashable, Sendable {
  /// All records, including tombstones.
  package private(set) var records: [RecordID: Record] = [:]
  private var indexes: [RecordID: RecordIndex] = [:]
  private var holders: [UniqueToken: RecordID] = [:]
  private var sources: [RecordID: Set<RecordID>] = [:]
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
    guard index != RecordIndex() else { return }
    indexes[id] = index
    for token in index.tokens { holders[token] = id }
    for target in index.targets { sources[target, default: []].insert(id) }
    for blob in index.blobs { blobSources[blob, default: []].insert(id) }
  }

  /// Removes every trace of a record.
  package mutating func remove(_ id: RecordID) {
    removeIndex(of: id)
    records[id] = nil
  }

  private mutating func removeIndex(of id: RecordID) {
    guard let index = indexes.removeValue(forKey: id) else { return }
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
