import Foundation
import Synchronization
import SwiftData

/// A snapshot of one model, with a field for its property.
struct NoteSnapshot: DataStoreSnapshot {
  let persistentIdentifier: PersistentIdentifier
  let text: String

  init(
    from backingData: any BackingData,
    relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  ) {
    func text<B: BackingData>(of backing: B) -> String {
      (\Note.text as? KeyPath<B.Model, String>).map { backing.getValue(forKey: $0) } ?? ""
    }
    self.init(
      backingData.persistentModelID ?? relatedBackingDatas.keys.sorted()[0], text(of: backingData))
  }

  init(_ persistentIdentifier: PersistentIdentifier, _ text: String) {
    self.persistentIdentifier = persistentIdentifier
    self.text = text
  }

  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> NoteSnapshot { NoteSnapshot(persistentIdentifier, text) }
}

/// Keeps the texts of notes under numbers, and deletes them by itself.
final class NoteStore: DataStore, DataStoreBatching {
  struct Configuration: DataStoreConfiguration {
    typealias Store = NoteStore

    let name: String
    var schema: Schema?
    let texts = Texts()

    init(_ name: String = "notes", for types: any PersistentModel.Type...) {
      self.name = name
      schema = types.isEmpty ? nil : Schema(types)
    }

    func validate() throws {
      if name.isEmpty { throw CocoaError(.fileNoSuchFile) }
    }

    static func == (left: Self, right: Self) -> Bool { left.texts === right.texts }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(texts)) }
  }

  final class Texts: Sendable {
    let all = Mutex<[Int: String]>([:])
    let calls = Mutex<[String]>([])
  }

  typealias Snapshot = NoteSnapshot

  let configuration: Configuration
  let identifier = "notes"
  var schema: Schema { configuration.schema ?? Schema([Note.self]) }

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    let names = configuration.schema?.entities.map(\.name) ?? []
    configuration.texts.calls.withLock { calls in calls.append("open \(names.sorted())") }
  }

  private func name(_ key: Int) throws -> PersistentIdentifier {
    try .identifier(for: identifier, entityName: "Note", primaryKey: key)
  }

  func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, NoteSnapshot> {
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    let texts = configuration.texts.all.withLock { $0 }.sorted { $0.key < $1.key }
      .dropFirst(request.descriptor.fetchOffset ?? 0)
      .prefix(request.descriptor.fetchLimit ?? .max)
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: try texts.map {
        NoteSnapshot(try name($0.key), $0.value)
      })
  }

  func save(
    _ request: DataStoreSaveChangesRequest<NoteSnapshot>
  ) throws -> DataStoreSaveChangesResult<NoteSnapshot> {
    var new: [PersistentIdentifier: PersistentIdentifier] = [:]
    let known = configuration.texts.all.withLock { $0 }
    var texts = known
    for snapshot in request.inserted {
      let key = (texts.keys.max() ?? 0) + 1
      texts[key] = snapshot.text
      new[snapshot.persistentIdentifier] = try name(key)
    }
    for key in known.keys {
      let name = try name(key)
      if request.deleted.contains(where: { $0.persistentIdentifier == name }) { texts[key] = nil }
      if let changed = request.updated.first(where: { $0.persistentIdentifier == name }) {
        texts[key] = changed.text
      }
    }
    let result = texts
    configuration.texts.all.withLock { $0 = result }
    return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: new)
  }

  func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
    configuration.texts.calls.withLock { calls in calls.append("delete") }
    guard request.predicate == nil else { throw DataStoreError.unsupportedFeature }
    configuration.texts.all.withLock { $0 = [:] }
  }
}
