import Foundation

/// One requested change of a history. It is a value, so that it can be computed again if another
/// writer comes first.
enum HistoryOperation {
  /// An entry to be written.
  struct Draft {
    var stored: StoredEntry
    var content: HistoryContent
    /// The contents of the blob that the entry refers to.
    var blob: Data?
  }

  /// Inserts entries at the front, the last of them foremost. The oldest beyond the limit are dropped when all
  /// operations of the change were applied.
  case prepend([Draft])
  /// Replaces the newest payload that has the same identity.
  case update(Draft)
  /// Replaces an entry that is still unchanged since it was read.
  case replace(UInt64, StoredEntry, Draft)
  /// Removes all payloads with an identity.
  case remove(AnyHashable)
  case removeAll(includingUndecodable: Bool)
  /// Removes entries that are still unchanged since they were read.
  case removeEntries([(sequence: UInt64, stored: StoredEntry)])
  case removeRecords([(sequence: UInt64, bytes: Data)])
  /// Inserts the elements of the app's array at the front, the last of them foremost, except for
  /// known ones.
  case importArray([Draft], digest: Data)
  /// Notes what is about to be written back.
  case recordExport(digest: Data)

  var drafts: [Draft] {
    switch self {
    case .prepend(let drafts), .importArray(let drafts, _): drafts
    case .update(let draft), .replace(_, _, let draft): [draft]
    default: []
    }
  }

  /// Whether the oldest entries beyond the limit are dropped after it.
  var dropsBeyondLimit: Bool {
    if case .prepend = self { true } else { false }
  }

  /// Whether it only adds at the front, so that other processes can follow it, and what is dropped of the oldest after
  /// it, without reading all entries.
  var isPrepend: Bool {
    switch self {
    case .prepend, .importArray, .recordExport: true
    default: false
    }
  }
}

// MARK: - Applying

extension HistoryTable {
  /// Makes a change in the table, and returns the number of affected entries.
  ///
  /// Conditions are checked here, with the current entries, and not where the operation was made:
  /// after another writer's change the same operation is applied again, and may then affect none.
  mutating func apply(
    _ operation: HistoryOperation, next: inout UInt64
  ) -> Int {
    switch operation {
    case .prepend(let drafts):
      append(drafts, &next)
      return drafts.count
    case .update(let draft):
      guard case .payload(_, let id) = draft.content, let entry = newest(id) else { return 0 }
      return replace(entry, with: draft)
    case .replace(let sequence, let stored, let draft):
      guard let entry = self[sequence: sequence], entry.stored == stored else { return 0 }
      return replace(entry, with: draft)
    case .remove(let id):
      return remove(sequences(id))
    case .removeAll(let includingUndecodable):
      return remove(
        newestFirst.filter { includingUndecodable || $0.content.payload != nil }.map(\.sequence))
    case .removeEntries(let entries):
      return remove(
        entries.filter { self[sequence: $0.sequence]?.stored == $0.stored }.map(\.sequence))
    case .removeRecords(let records):
      return remove(
        records.filter { self[sequence: $0.sequence]?.stored.holds($0.bytes) == true }
          .map(\.sequence))
    case .importArray(let drafts, _):
      let new = unknown(of: drafts)
      append(new, &next)
      return new.count
    case .recordExport:
      return 0
    }
  }

  private mutating func append(_ drafts: [HistoryOperation.Draft], _ next: inout UInt64) {
    for draft in drafts {
      append(Entry(sequence: next, stored: draft.stored, content: draft.content))
      next += 1
    }
  }

  private mutating func replace(_ entry: Entry, with draft: HistoryOperation.Draft) -> Int {
    // The same bytes: found, but there is nothing to write.
    guard draft.stored != entry.stored else { return 1 }
    replace(Entry(sequence: entry.sequence, stored: draft.stored, content: draft.content))
    return 1
  }

  private mutating func remove(_ sequences: [UInt64]) -> Int {
    let before = total
    for sequence in sequences { remove(sequence) }
    return before - total
  }

  /// The elements of an imported array that are not stored yet: payloads by their identity, others
  /// by their bytes.
  private func unknown(of drafts: [HistoryOperation.Draft]) -> [HistoryOperation.Draft] {
    var undecodable: Set<StoredEntry.Body>?
    return drafts.filter { draft in
      if case .payload(_, let id) = draft.content { return newest(id) == nil }
      // Only computed if an element does not decode, since it hashes all entries.
      let known = undecodable ?? Set(newestFirst.map(\.stored.body))
      undecodable = known
      return !known.contains(draft.stored.body)
    }
  }
}

// MARK: - Committing

/// The result of a commit.
struct HistoryOutcome {
  /// The number of entries that each operation affected.
  var affected: [Int]
  /// Blobs to which the removed, replaced or dropped entries referred, and nothing refers any more.
  var released: [String]
}

extension HistoryCore.State {
  /// Makes changes as one, in memory and in the domain.
  ///
  /// Optimistic concurrency control: the operations are applied to the table, and the record is
  /// appended on the condition that the domain's header is the one that the table was read with.
  /// Each change raises the header's revision, so any other writer's change makes the condition
  /// fail. It is one record of the journal, so other processes see all of it or none.
  ///
  /// - Returns: nil if another writer came first. The table is unchanged then.
  /// - Throws: What the domain throws. The table is unchanged then.
  mutating func commit(
    _ operations: [HistoryOperation], to store: DomainStore, limit: Int
  ) throws -> HistoryOutcome? {
    // A cheap check before the work; the condition of `apply` below is what counts.
    guard isCurrent(store) else { return nil }
    guard header.format == HistoryHeader.format else { throw HistoryHeader.newerVersion }
    var new = header
    // The header may have been edited by hand: a sequence number must never be used twice.
    new.next = max(new.next, (table.lastSequence ?? 0) + 1)
    var affected: [Int] = []
    for operation in operations {
      affected.append(table.apply(operation, next: &new.next))
      if case .importArray(_, let digest) = operation {
        (new.importedDigest, new.exportedDigests) = (digest, nil)
      }
      if case .recordExport(let digest) = operation { new.exportedDigests = digest }
      // Tells other processes that following the front of the history does not suffice.
      if !operation.isPrepend, affected.last != 0 { new.edits = header.edits + 1 }
    }
    // After all of them: what one removes makes room for what another adds, in any order.
    if operations.contains(where: \.dropsBeyondLimit) { table.drop(to: limit) }
    // Before the write: the record has these changes and no others.
    let changes = table.changes
    let released = released(changes, operations)
    // Numbers of entries that are gone again are in no record, and no other process has to read all. Here they stay used:
    // the table goes on behind the last number that it has given.
    if changes.isEmpty { (new.next, new.edits) = (header.next, header.edits) }
    // Nothing to write, such as for the removal of an unknown identity.
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
    // Another writer came first. The caller reads its changes, and tries again.
    guard isDone else {
      table.rollBack()
      return nil
    }
    // The record is in the journal; what follows cannot fail.
    table.commit()
    new.stored = new.propertyList
    header = new
    if !changes.isEmpty {
      didChange()
      if isObserved { pendingDeltas.append(HistoryDelta(changes, isOwn: true)) }
    }
    return HistoryOutcome(affected: affected, released: released)
  }

  /// The blobs that lose their last reference by these changes.
  private func released(
    _ changes: [HistoryTable.Change], _ operations: [HistoryOperation]
  ) -> [String] {
    var references = changes.compactMap { $0.before?.stored.reference }
    // Also those of drafts that no entry has now, such as an update of an unknown identity: their
    // files were written for nothing.
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
    if importedDigest != old.importedDigest {
      edits.append(DomainEdit(key: Self.importedKey, value: importedDigest.map(PropertyList.data)))
    }
    if exportedDigests != old.exportedDigests {
      edits.append(DomainEdit(key: Self.exportedKey, value: exportedDigests.map(PropertyList.data)))
    }
    return edits
  }

  static var newerVersion: PreferencesError {
    PreferencesError(
      code: .newerVersion,
      message: "A newer version of this library wrote the history. Update the program.")
  }
}
