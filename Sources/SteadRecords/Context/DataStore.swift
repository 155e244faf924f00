/// A store of any kind that keeps a container's models: a file, a service or a database of your own.
///
/// A context passes a store snapshots of objects to save, and asks it for snapshots with a `FetchDescriptor`. The
/// context itself handles identity, pending changes, relationships, delete rules and undo.
///
/// The container that opened a store calls it from one thread at a time, but not always the same one. An error that a
/// function throws reaches the caller of the context. See Documentation/CustomStores.md.
public protocol DataStore: AnyObject {
  associatedtype Configuration: DataStoreConfiguration where Configuration.Store == Self
  associatedtype Snapshot: DataStoreSnapshot

  /// Opens the store.
  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

  var configuration: Configuration { get }
  /// The name of the store in identifiers: the same whenever the store is opened, and no other store's.
  var identifier: String { get }
  var schema: Schema { get }

  /// The objects that match, in the descriptor's sort order.
  ///
  /// Throw ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` to leave the
  /// predicate or the order to the context.
  func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, Snapshot>

  /// The number of objects that match.
  func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int

  /// The identifiers of the objects that match.
  func fetchIdentifiers<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier]

  /// Saves all changes of the request or, when it throws, none.
  ///
  /// The result gives each inserted object its permanent identifier.
  func save(
    _ request: DataStoreSaveChangesRequest<Snapshot>
  ) throws -> DataStoreSaveChangesResult<Snapshot>

  /// The snapshots that the store has at hand, by identifier; any others are fetched.
  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot]

  /// Called when a context begins to use the store.
  func initializeState(for editingState: EditingState)

  /// Called when that context ends.
  func invalidateState(for editingState: EditingState)

  /// Removes all objects.
  func erase() throws
}

extension DataStore {
  public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
    try fetch(request).fetchedSnapshots.count
  }

  public func fetchIdentifiers<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] {
    try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
  }

  public func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot] { [:] }

  public func initializeState(for editingState: EditingState) {}

  public func invalidateState(for editingState: EditingState) {}

  /// Throws ``DataStoreError/unsupportedFeature`` by default; implement it to support this.
  public func erase() throws { throw DataStoreError.unsupportedFeature }
}

// MARK: - Configuration

/// Describes a store of any kind, so that a container can open it.
public protocol DataStoreConfiguration: Hashable {
  associatedtype Store: DataStore where Store.Configuration == Self

  /// The configuration's name, which no other of the container has.
  var name: String { get }
  /// The models that the store holds; the container sets it when it is nil.
  var schema: Schema? { get set }
  /// Throws when the store cannot be opened as described.
  func validate() throws
}

extension DataStoreConfiguration {
  public func validate() throws {}
}

// MARK: - Batching

/// A store that deletes objects by a predicate, without handing out snapshots of them first.
public protocol DataStoreBatching: DataStore {
  /// Deletes the objects that match.
  ///
  /// Called by `ModelContext.delete(model:where:)` for models that no relationship leads to or from. Throw
  /// a ``DataStoreError`` to have the context fetch and delete the objects instead.
  func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}
