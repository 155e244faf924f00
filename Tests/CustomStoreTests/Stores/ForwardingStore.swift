import Foundation
import SwiftData

/// Hands all requests on to a `DefaultStore`.
final class ForwardingStore: DataStore, DataStoreBatching, DataStoreVersioning, HistoryProviding {
  struct Configuration: DataStoreConfiguration {
    typealias Store = ForwardingStore

    let name = "forwarding"
    var schema: Schema?
    let url: URL
  }

  typealias Snapshot = DefaultSnapshot
  typealias HistoryType = DefaultHistoryTransaction

  let configuration: Configuration
  let schema: Schema
  private let inner: DefaultStore

  var identifier: String { inner.identifier }

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    inner = try DefaultStore(
      ModelConfiguration(schema: configuration.schema, url: configuration.url),
      migrationPlan: migrationPlan)
    schema = inner.schema
  }

  func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try inner.fetch(request) }

  func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
    try inner.fetchCount(request)
  }

  func fetchIdentifiers<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] { try inner.fetchIdentifiers(request) }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try inner.save(request) }

  func version() throws -> DefaultHistoryToken { try inner.version() }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, at version: DefaultHistoryToken
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot>? {
    try inner.save(request, at: version)
  }

  func cachedSnapshots(
    for identifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: DefaultSnapshot] {
    try inner.cachedSnapshots(for: identifiers, editingState: editingState)
  }

  func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
    try inner.delete(request)
  }

  func erase() throws { try inner.erase() }

  func fetchHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] { try inner.fetchHistory(descriptor) }

  func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    try inner.deleteHistory(descriptor)
  }
}
