/// Changed records over an unchanged storage, with the changes of one transaction to undo.
///
/// Costs what the storage costs, and memory for each changed record.
public struct Overlay<Base: RecordStorage>: RecordStorage {
  private struct Entry {
    var record: Record
    var index: RecordIndex
  }

  /// The storage below.
  public var base: Base
  private var entries: [RecordID: Entry] = [:]
  /// Several, until the transaction that made them so has been settled.
  private var holders: [UniqueToken: Set<RecordID>] = [:]
  private var sources: [RecordID: Set<RecordID>] = [:]
  /// The states before the open transaction's first change of each record.
  private var before: [(id: RecordID, entry: Entry?)] = []
  private var touched: Set<RecordID> = []

  public init(_ base: Base) { self.base = base }

  /// The records that are changed, ascending, with their indexes.
  public var changes: [(record: Record, index: RecordIndex)] {
    entries.keys.sorted().compactMap { id in entries[id].map { ($0.record, $0.index) } }
  }

  /// The identities of changed records.
  public var changedIDs: [RecordID] { entries.keys.sorted() }

  public func record(_ id: RecordID) throws(Base.Failure) -> Record? {
    if let entry = entries[id] { return entry.record }
    return try base.record(id)
  }

  public func holder(of token: UniqueToken) throws(Base.Failure) -> RecordID? {
    if let id = holders[token]?.min() { return id }
    return try holderBelow(token)
  }

  /// A live record other than the given one that holds a key; the smallest of several.
  func rival(of id: RecordID, for token: UniqueToken) throws(Base.Failure) -> RecordID? {
    if let rival = holders[token]?.filter({ $0 != id }).min() { return rival }
    return try holderBelow(token).flatMap { $0 == id ? nil : $0 }
  }

  private func holderBelow(_ token: UniqueToken) throws(Base.Failure) -> RecordID? {
    guard let id = try base.holder(of: token), entries[id] == nil else { return nil }
    return id
  }

  public func referrers(of target: RecordID) throws(Base.Failure) -> [RecordID] {
    let below = try base.referrers(of: target)
    if entries.isEmpty { return below }
    return (sources[target] ?? []).union(below.filter { entries[$0] == nil }).sorted()
  }

  public mutating func put(_ record: Record, index: RecordIndex) throws(Base.Failure) {
    if touched.insert(record.id).inserted { before.append((record.id, entries[record.id])) }
    set(Entry(record: record, index: index), for: record.id)
  }

  private mutating func set(_ entry: Entry?, for id: RecordID) {
    if let old = entries[id] {
      for token in old.index.tokens { holders[token]?.remove(id) }
      for target in old.index.targets { sources[target]?.remove(id) }
    }
    entries[id] = entry
    guard let entry else { return }
    for token in entry.index.tokens { holders[token, default: []].insert(id) }
    for target in entry.index.targets { sources[target, default: []].insert(id) }
  }

  /// The records that the open transaction has changed, ascending.
  public var openChanges: [RecordID] { touched.sorted() }

  /// Ends the open transaction and keeps its changes.
  public mutating func keepOpenChanges() {
    before = []
    touched = []
  }

  /// Undoes the open transaction.
  public mutating func undoOpenChanges() {
    for (id, entry) in before { set(entry, for: id) }
    keepOpenChanges()
  }

  /// Forgets all changes.
  public mutating func reset() {
    entries = [:]
    holders = [:]
    sources = [:]
    keepOpenChanges()
  }
}

extension Overlay: Sendable where Base: Sendable {}
