import Foundation

/// The result of a change.
struct HistoryOutcome {
  /// The number of entries that each operation affected.
  var affected: [Int]
  /// Blobs of entries that were removed, or not even kept.
  var released: [String]
}

extension HistoryCore.State {
  /// Makes changes as one, in memory and in the domain; nil if another writer came first.
  ///
  /// It is one record of the journal. If it throws, nothing has changed.
  mutating func commit(
    _ operations: [HistoryOperation], to store: DomainStore, limit: Int
  ) throws -> HistoryOutcome? {
    guard isCurrent(store) else { return nil }
    guard header.format == HistoryHeader.format else { throw HistoryHeader.newerVersion }
    var new = header
    new.next = max(new.next, (table.lastSequence ?? 0) + 1)
    var affected: [Int] = []
    for operation in operations {
      affected.append(table.apply(operation, next: &new.next, limit: limit))
      if case .takeOver(_, let digest) = operation { (new.taken, new.written) = (digest, nil) }
      if case .note(let digest) = operation { new.written = digest }
      if !operation.isPrepend, affected.last != 0 { new.edits = header.edits + 1 }
    }
    let changes = table.changes
    let released = released(changes, operations)
    guard !changes.isEmpty || new != header else {
      table.rollBack()
      return HistoryOutcome(affected: affected, released: released)
    }
    new.revision += 1
    new.total = Int64(table.total)
    let isDone: Bool
    do {
      let edits = new.edits(from: header) + changes.map(\.edit)
      isDone = try store.apply(
        edits, ifStill: [DomainEdit(key: HistoryHeader.key, value: header.stored)])
    } catch {
      table.rollBack()
      throw error
    }
    guard isDone else {
      table.rollBack()
      return nil
    }
    table.commit()
    new.stored = new.propertyList
    header = new
    if !changes.isEmpty {
      didChange()
      if isFollowed { mail.append(HistoryDelta(changes, isOwn: true)) }
    }
    return HistoryOutcome(affected: affected, released: released)
  }

  private func released(
    _ changes: [HistoryTable.Change], _ operations: [HistoryOperation]
  ) -> [String] {
    var references = changes.compactMap { $0.before?.stored.reference }
    references += operations.flatMap(\.drafts).compactMap(\.stored.reference)
    return references.filter { !table.refers(to: $0) }
  }
}

extension HistoryTable.Change {
  fileprivate var edit: DomainEdit {
    DomainEdit(key: EntryKey.text(sequence), value: after?.stored.propertyList)
  }
}

extension HistoryHeader {
  /// The edits that replace an earlier header with this one.
  fileprivate func edits(from old: HistoryHeader) -> [DomainEdit] {
    var edits = [DomainEdit(key: Self.key, value: propertyList)]
    if taken != old.taken {
      edits.append(DomainEdit(key: Self.takenKey, value: taken.map(PropertyList.data)))
    }
    if written != old.written {
      edits.append(DomainEdit(key: Self.writtenKey, value: written.map(PropertyList.data)))
    }
    return edits
  }

  static var newerVersion: PreferencesError {
    PreferencesError(
      code: .newerVersion,
      message: "A newer version of this library wrote the history. Update the program.")
  }
}
