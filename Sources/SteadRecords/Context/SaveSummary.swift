import Foundation

/// What a save wrote, for notifications and other contexts.
struct SaveSummary {
  let graph: ObjectGraph
  let inserted: [SaveWriter.State]
  let updated: [SaveWriter.State]
  let deleted: [SaveWriter.State]

  /// The tables that were written.
  var tables: Set<String> {
    var isWritten = Array(repeating: false, count: graph.traits.count)
    for models in [inserted, updated, deleted] {
      for model in models { isWritten[Int(model.pointee.entity)] = true }
    }
    return Set(graph.layout.entities.filter { isWritten[$0.index] }.map(\.table))
  }

  /// The rows of one store.
  func changes(in store: RecordStore) -> StoreChanges {
    let traits = graph.traits
    var rows = [Set<Int64>](repeating: [], count: graph.traits.count)
    for models in [inserted, updated, deleted] {
      for model in models {
        rows[traits[Int(model.pointee.entity)].root].insert(model.pointee.rowID)
      }
    }
    var changes = StoreChanges(store: store.identity, rows: [:])
    for entity in graph.layout.entities
    where !rows[entity.index].isEmpty && graph.stores[entity.index] === store {
      changes.rows?[entity.table] = rows[entity.index]
    }
    return changes
  }

  /// The identifiers of saved objects; deleted ones have left the context, but not their rows' numbers.
  private func identifiers(_ models: [SaveWriter.State]) -> Set<PersistentIdentifier> {
    var result = Set<PersistentIdentifier>(minimumCapacity: models.count)
    var (entity, reference) = (Int32(-1), graph.plans[0].reference)
    for model in models {
      if model.pointee.entity != entity {
        entity = model.pointee.entity
        reference = graph.plans[Int(entity)].reference
      }
      result.insert(PersistentIdentifier(reference: reference, row: model.pointee.rowID))
    }
    return result
  }

  /// The `userInfo` of `didSave`: sets of identifiers, under SwiftData's keys and Core Data's words.
  var userInfo: [AnyHashable: Any] {
    var info = Self.emptyInfo
    for (keys, models) in zip(Self.keys, [inserted, updated, deleted]) where !models.isEmpty {
      let identifiers = identifiers(models)
      info[keys.name] = identifiers
      info[keys.word] = identifiers
    }
    return info
  }

  // Made once, since boxing six strings costs as much as writing a row. Immutable, and strings and
  // empty sets are all they hold.
  nonisolated(unsafe) private static let keys: [(name: AnyHashable, word: AnyHashable)] = [
    (ModelContext.NotificationKey.insertedIdentifiers.rawValue, "inserted"),
    (ModelContext.NotificationKey.updatedIdentifiers.rawValue, "updated"),
    (ModelContext.NotificationKey.deletedIdentifiers.rawValue, "deleted"),
  ]
  nonisolated(unsafe) private static let emptyInfo: [AnyHashable: Any] = Dictionary(
    uniqueKeysWithValues: keys.flatMap { [$0.name, $0.word] }.map {
      ($0, Set<PersistentIdentifier>())
    })
}
