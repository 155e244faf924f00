/// Changed records in memory, with the changes of one transaction to undo.
///
/// Not generic, unlike ``Overlay``: code of another module that names a storage couldn't specialize its dictionaries.
/// Calls cost constant time, and memory for each changed record.
struct RecordChanges: Sendable {
  struct Entry: Sendable {
    var record: Record
    var index: RecordIndex
    /// The record's size, which is asked for several times.
    var size: Int
    /// The transaction that changed the record last.
    fileprivate var transaction: Int
  }

  private var entries: [RecordID: Entry] = [:]
  /// Several, until the transaction that made them so has been settled.
  private var holders: [UniqueToken: Set<RecordID>] = [:]
  private var sources: [RecordID: Set<RecordID>] = [:]
  /// The states before the open transaction's first change of each record, in the order of these changes.
  private var before: [(id: RecordID, entry: Entry?)] = []
  private var transaction = 0

  var isEmpty: Bool { entries.isEmpty }
  /// The identities of changed records, ascending.
  var ids: [RecordID] { entries.keys.sorted() }

  subscript(id: RecordID) -> Entry? { entries[id] }
  func contains(_ id: RecordID) -> Bool { entries[id] != nil }
  func record(_ id: RecordID) -> Record? { entries[id]?.record }

  /// A changed record, other than the given one, that holds a key; the smallest of several.
  func holder(of token: UniqueToken, other id: RecordID? = nil) -> RecordID? {
    if holders.isEmpty { return nil }
    return holders[token]?.filter { $0 != id }.min()
  }

  /// The changed records that refer to one.
  func referrers(of target: RecordID) -> Set<RecordID> { sources[target] ?? [] }

  /// Makes room for so many records that one transaction changes.
  mutating func reserveCapacity(_ count: Int) {
    if entries.isEmpty { entries.reserveCapacity(count) }
    before.reserveCapacity(count)
  }

  mutating func put(_ record: Record, index: RecordIndex) {
    let id = record.id
    let old = entries.updateValue(
      Entry(record: record, index: index, size: record.size, transaction: transaction), forKey: id)
    if old?.transaction != transaction { before.append((id, old)) }
    replace(old?.index, by: index, of: id)
  }

  private mutating func replace(_ old: RecordIndex?, by new: RecordIndex?, of id: RecordID) {
    if let old {
      for token in old.tokens { holders[token]?.remove(id) }
      for target in old.targets { sources[target]?.remove(id) }
    }
    guard let new else { return }
    for token in new.tokens { holders[token, default: []].insert(id) }
    for target in new.targets { sources[target, default: []].insert(id) }
  }

  /// The records that the open transaction has changed, ascending.
  var openIDs: [RecordID] { before.map(\.id).sorted() }

  /// Ends the open transaction and keeps its changes.
  mutating func keepOpen() {
    before.removeAll(keepingCapacity: true)
    transaction += 1
  }

  /// Undoes the open transaction.
  mutating func undoOpen() {
    for (id, entry) in before {
      let new = entries[id]
      entries[id] = entry
      replace(new?.index, by: entry?.index, of: id)
    }
    keepOpen()
  }

  /// Forgets all changes.
  mutating func reset() {
    entries = [:]
    holders = [:]
    sources = [:]
    keepOpen()
  }
}
