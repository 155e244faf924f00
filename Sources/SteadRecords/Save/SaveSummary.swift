import Foundation

/// What a save wrote, as identifiers and tables, for notifications.
struct SaveSummary {
  var inserted: Set<PersistentIdentifier> = []
  var updated: Set<PersistentIdentifier> = []
  var deleted: Set<PersistentIdentifier> = []
  /// The place of the save in the history of each store that has one.
  var historyTokens: [String: any HistoryToken] = [:]

  /// The `userInfo` of `didSave`: sets of identifiers, under SwiftData's keys and Core Data's words.
  var userInfo: [AnyHashable: Any] {
    var info = Self.emptyInfo
    for (keys, identifiers) in zip(Self.keys, [inserted, updated, deleted])
    where !identifiers.isEmpty {
      info[keys.name] = identifiers
      info[keys.word] = identifiers
    }
    if !historyTokens.isEmpty { info[Self.tokensKey] = historyTokens }
    return info
  }

  // Made once, since boxing six strings costs as much as writing a row. Immutable, and strings and
  // empty sets are all they hold.
  nonisolated(unsafe) private static let keys: [(name: AnyHashable, word: AnyHashable)] = [
    ("insertedIdentifiers", "inserted"), ("updatedIdentifiers", "updated"),
    ("deletedIdentifiers", "deleted"),
  ]
  // Safe as `keys` is: immutable, and a string.
  nonisolated(unsafe) private static let tokensKey: AnyHashable = "historyTokens"
  nonisolated(unsafe) private static let emptyInfo: [AnyHashable: Any] = Dictionary(
    uniqueKeysWithValues: keys.flatMap { [$0.name, $0.word] }.map {
      ($0, Set<PersistentIdentifier>())
    })
}

// MARK: - From what was written

/// What a save has written, for the log of commits and for notifications.
extension SaveResult {
  /// The rows of one store, for the log of its commits.
  ///
  /// A row may come several times: as that of an object, and among `otherRows`.
  func rows(in store: Int) -> CommitLog.Rows {
    var written = [[Int64]](repeating: [], count: layout.entities.count)
    var deleted = written
    for states in [plan.states.inserted, plan.states.updated, plan.states.deleted] {
      for state in states where isIn(store, state) {
        written[layout.entities[Int(state.pointee.entity)].layout.rootIndex].append(
          state.pointee.rowID)
      }
    }
    // Deleted rows are named twice: the log's `written` has them, too (`CommitLog.Rows.Table`).
    for state in plan.states.deleted where isIn(store, state) {
      deleted[layout.entities[Int(state.pointee.entity)].layout.rootIndex].append(
        state.pointee.rowID)
    }
    // Rows without an object here, of which other contexts may have objects.
    for (root, others) in otherRows where layout.entities[root].storeIndex == store {
      written[root] += others
    }
    var result = CommitLog.Rows()
    for root in written.indices where !written[root].isEmpty {
      let name = layout.store.entities[root].table
      result.add(.init(name: name, written: written[root], deleted: deleted[root]))
    }
    return result
  }

  /// The hierarchies whose rows were written.
  var roots: Set<Int> {
    var isWritten = Array(repeating: false, count: layout.entities.count)
    for states in [plan.states.inserted, plan.states.updated, plan.states.deleted] {
      for state in states {
        isWritten[layout.entities[Int(state.pointee.entity)].layout.rootIndex] = true
      }
    }
    return Set(isWritten.indices.filter { isWritten[$0] }).union(otherRows.keys)
  }

  /// The identifiers of what was written; only while the objects are still the context's.
  ///
  /// An object that has left its context has no identifier any more. Costs a set of identifiers for each kind of
  /// change, so it is only made if somebody may observe the save.
  var summary: SaveSummary {
    var summary = SaveSummary()
    summary.historyTokens = historyTokens
    summary.updated = identifiers(plan.states.updated)
    summary.deleted = identifiers(plan.states.deleted)
    // For observers an upsert is an update: it has changed a row that existed.
    if upserted.isEmpty {
      summary.inserted = identifiers(plan.states.inserted)
    } else {
      let isUpsert = plan.inserted.map { upserted.contains(ObjectIdentifier($0)) }
      let states = zip(plan.states.inserted, isUpsert)
      summary.inserted = identifiers(states.filter { !$0.1 }.map(\.0))
      summary.updated.formUnion(identifiers(states.filter(\.1).map(\.0)))
    }
    return summary
  }

  private func identifiers(_ states: [State]) -> Set<PersistentIdentifier> {
    var result = Set<PersistentIdentifier>(minimumCapacity: states.count)
    for state in states {
      result.insert(
        PersistentIdentifier(
          reference: layout.entities[Int(state.pointee.entity)].lazyPlan.plan.reference,
          row: state.pointee.rowID))
    }
    return result
  }
}
