import Foundation

/// What a save wrote, for notifications and other contexts.
struct SaveSummary {
  private let inserted: [any PersistentModel]
  private let updated: [any PersistentModel]
  private let deleted: [any PersistentModel]
  private let deletedIdentifiers: Set<PersistentIdentifier>
  private let rows: [ObjectIdentifier: StoreChanges]

  init(
    graph: ObjectGraph, inserted: [any PersistentModel], updated: [any PersistentModel],
    deleted: [any PersistentModel]
  ) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
    deletedIdentifiers = Set(deleted.map(\.persistentModelID))
    var changes: [ObjectIdentifier: StoreChanges] = [:]
    for models in [inserted, updated, deleted] {
      for model in models {
        let entity = graph.entity(of: model)
        let store = graph.stores[entity.index]
        changes[
          ObjectIdentifier(store), default: StoreChanges(store: store.identity, rows: [:])
        ].rows?[entity.table, default: []].insert(model._$statePointer.pointee.rowID)
      }
    }
    rows = changes
  }

  /// The tables that were written.
  var tables: Set<String> {
    rows.values.reduce(into: []) { $0.formUnion($1.rows.map { Set($0.keys) } ?? []) }
  }

  func changes(in store: RecordStore) -> StoreChanges {
    rows[ObjectIdentifier(store)] ?? StoreChanges(store: store.identity, rows: [:])
  }

  /// The `userInfo` of `didSave`: sets of identifiers, under SwiftData's keys and Core Data's words.
  var userInfo: [AnyHashable: Any] {
    let sets: [(ModelContext.NotificationKey, String, Set<PersistentIdentifier>)] = [
      (.insertedIdentifiers, "inserted", Set(inserted.map(\.persistentModelID))),
      (.updatedIdentifiers, "updated", Set(updated.map(\.persistentModelID))),
      (.deletedIdentifiers, "deleted", deletedIdentifiers),
    ]
    var info: [AnyHashable: Any] = [:]
    for (key, word, identifiers) in sets {
      info[key.rawValue] = identifiers
      info[word] = identifiers
    }
    return info
  }
}
