/// Changed records over an unchanged storage, with the changes of one transaction to undo.
///
/// Costs what the storage costs, and memory for each changed record.
package struct Overlay<Base: RecordStorage>: RecordStorage {
  /// The storage below.
  package var base: Base
  private(set) var changed = RecordChanges()

  package init(_ base: Base) { self.base = base }

  /// The records that are changed, ascending, with their indexes.
  package var changes: [(record: Record, index: RecordIndex)] {
    changed.ids.compactMap { id in changed[id].map { ($0.record, $0.index) } }
  }

  /// The identities of changed records.
  package var changedIDs: [RecordID] { changed.ids }

  package func record(_ id: RecordID) throws(Base.Failure) -> Record? {
    if let record = changed.record(id) { return record }
    return try base.record(id)
  }

  package func holder(of token: UniqueToken) throws(Base.Failure) -> RecordID? {
    if let id = changed.holder(of: token) { return id }
    return try holderBelow(token)
  }

  /// A live record other than the given one that holds a key; the smallest of several.
  func rival(of id: RecordID, for token: UniqueToken) throws(Base.Failure) -> RecordID? {
    if let rival = changed.holder(of: token, other: id) { return rival }
    return try holderBelow(token).flatMap { $0 == id ? nil : $0 }
  }

  private func holderBelow(_ token: UniqueToken) throws(Base.Failure) -> RecordID? {
    guard let id = try base.holder(of: token), !changed.contains(id) else { return nil }
    return id
  }

  package func referrers(of target: RecordID) throws(Base.Failure) -> [RecordID] {
    let below = try base.referrers(of: target)
    if changed.isEmpty { return below }
    return changed.referrers(of: target).union(below.filter { !changed.contains($0) }).sorted()
  }

  /// Makes room for so many records that one transaction changes.
  mutating func reserveCapacity(_ count: Int) { changed.reserveCapacity(count) }

  package mutating func put(_ record: Record, index: RecordIndex) throws(Base.Failure) {
    changed.put(record, index: index)
  }

  /// The identities of the records that the open transaction has changed, ascending.
  package var openChanges: [RecordID] { changed.openIDs }

  /// Ends the open transaction and keeps its changes.
  package mutating func keepOpenChanges() { changed.keepOpen() }

  /// Undoes the open transaction.
  package mutating func undoOpenChanges() { changed.undoOpen() }

  /// Forgets all changes.
  package mutating func reset() { changed.reset() }
}

extension Overlay: Sendable where Base: Sendable {}
