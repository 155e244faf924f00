/// A client's records in memory, for simulations, tests and small zones.
package struct MemoryClientStorage: ClientStorage, Hashable, Sendable {
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
    for record in base.records.values.sorted(by: { $0.seq < $1.seq }) {
      base.put(record, index: schema.index(of: record))
    }
    return Set(base.records.values.filter(\.isLive).map(\.id))
  }

  package mutating func discardStaged() { staged = [:] }

  package func held(after seq: Int64) -> [Record] {
    base.records.merging(staged) { $1 }.values.filter { $0.seq > seq }.sorted { $0.seq < $1.seq }
  }

  package mutating func forgetTombstones(upTo seq: Int64) {
    guard seq > 0 else { return }
    for record in base.records.values where !record.isLive && record.seq <= seq {
      base.remove(record.id)
    }
  }
}
