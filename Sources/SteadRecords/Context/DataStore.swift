/// A store of any kind that keeps a container's models: a file, a service or a database of your own.
///
/// A context passes a store snapshots of objects to save, and asks it for snapshots with a `FetchDescriptor`. The
/// context itself handles identity, pending changes, relationships, delete rules and undo.
///
/// The container that opened a store calls it from one thread at a time, but not always the same one. An error that a
/// function throws reaches the caller of the context. See Documentation/CustomStores.md.
///
/// ```swift
/// func fetch<T>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
///   if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
///   if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
///   let found = snapshots(of: Schema.entityName(for: T.self))
///     .dropFirst(request.descriptor.fetchOffset ?? 0).prefix(request.descriptor.fetchLimit ?? .max)
///   return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: Array(found))
/// }
/// ```
///
/// A store needs ``fetch(_:)`` and ``save(_:)``; the rest has implementations to replace. The container keeps the rows
/// of all objects that the store has returned in memory, and learns of other programs' changes from the answers alone.
/// A store that other programs change should also conform to ``DataStoreVersioning``.
public protocol DataStore: AnyObject {
  /// What describes the store, so that a container can open it.
  associatedtype Configuration: DataStoreConfiguration where Configuration.Store == Self
  /// The form in which objects are exchanged: ``DefaultSnapshot``, or a type of your own.
  associatedtype Snapshot: DataStoreSnapshot

  /// Opens the store. Called once by each container, when it is opened.
  ///
  /// - Parameters:
  ///   - configuration: Its schema is set.
  ///   - migrationPlan: The container's plan: follow it, or throw if there is one that the store cannot follow.
  /// - Throws: Any error, with which the container does not open.
  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

  /// The configuration that the store was opened with.
  var configuration: Configuration { get }
  /// The name of the store in identifiers: the same whenever the store is opened, and no other store's.
  ///
  /// It is part of every object's identifier: with another name, identifiers that a program has kept find nothing.
  var identifier: String { get }
  /// The models that the store holds: the configuration's schema.
  var schema: Schema { get }

  /// The objects that match, in the descriptor's sort order.
  ///
  /// Throw ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` to leave the
  /// predicate or the order to the context.
  ///
  /// Apply limit and offset: the context drops none of the objects, unless it has unsaved changes that may match; the
  /// request then has neither. Return all objects of the class for a descriptor without predicate and limit: those that
  /// are missing count as deleted. If the class is in a hierarchy, the request asks for all objects of one class.
  ///
  /// Called by each fetch of a context, and to load objects that others refer to, with the predicate
  /// `identifiers.contains($0.persistentModelID)`. For that a ``DataStoreError`` has the context fetch all objects of
  /// the class.
  func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, Snapshot>

  /// The number of objects that match, within limit and offset. By default the number of snapshots that ``fetch(_:)``
  /// returns.
  func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int

  /// The identifiers of the objects that match, in order. By default those of the snapshots that ``fetch(_:)`` returns.
  func fetchIdentifiers<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier]

  /// Saves all changes of the request or, when it throws, none.
  ///
  /// The result gives each inserted object its permanent identifier; without it the context's save throws
  /// ``SwiftDataError/storeFailure``, although the store has saved. The request has each changed object as a whole, on
  /// both sides of a relationship. Replace the temporary identifiers in relationships, too
  /// (``DataStoreSnapshot/copy(persistentIdentifier:remappedIdentifiers:)``).
  ///
  /// The context has checked unique values, required relationships and delete rules before. When this throws, all
  /// changes of the context stay pending.
  func save(
    _ request: DataStoreSaveChangesRequest<Snapshot>
  ) throws -> DataStoreSaveChangesResult<Snapshot>

  /// The snapshots that the store has at hand, by identifier; any others are fetched. By default none.
  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot]

  /// Called when a context of the container is made. Does nothing by default.
  func initializeState(for editingState: EditingState)

  /// Called when that context ends, on any thread: what the store keeps for it can go. Does nothing by default.
  func invalidateState(for editingState: EditingState)

  /// Removes all objects; for ``ModelContainer/erase()``. The store remains and is usable.
  func erase() throws
}

extension DataStore {
  /// The number of snapshots that ``fetch(_:)`` returns; what it throws.
  public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
    try fetch(request).fetchedSnapshots.count
  }

  /// The identifiers of the snapshots that ``fetch(_:)`` returns; what it throws.
  public func fetchIdentifiers<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] {
    try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
  }

  /// None: the context fetches the objects.
  public func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot] { [:] }

  /// Does nothing.
  public func initializeState(for editingState: EditingState) {}

  /// Does nothing.
  public func invalidateState(for editingState: EditingState) {}

  /// Throws ``DataStoreError/unsupportedFeature`` by default; implement it to support this.
  public func erase() throws { throw DataStoreError.unsupportedFeature }
}

// MARK: - Configuration

/// Describes a store of any kind, so that a container can open it.
///
/// ```swift
/// struct NotesConfiguration: DataStoreConfiguration {
///   typealias Store = Notes
///   let name: String
///   var schema: Schema?
/// }
/// let container = try ModelContainer(for: Note.self, configurations: NotesConfiguration(name: "notes"))
/// ```
public protocol DataStoreConfiguration: Hashable {
  /// The type of store that a container makes of it.
  associatedtype Store: DataStore where Store.Configuration == Self

  /// The configuration's name, which no other of the container has.
  var name: String { get }
  /// The models that the store holds; the container sets it when it is nil.
  var schema: Schema? { get set }
  /// Throws when the store cannot be opened as described. Called before any store of the container is opened.
  func validate() throws
}

extension DataStoreConfiguration {
  /// Throws nothing.
  public func validate() throws {}
}

// MARK: - Batching

/// A store that deletes objects by a predicate, without handing out snapshots of them first.
public protocol DataStoreBatching: DataStore {
  /// Deletes the objects that match.
  ///
  /// Called by `ModelContext.delete(model:where:)` for models that no relationship leads to or from, that are in no
  /// class hierarchy, and of which the context has no unsaved changes. Throw a ``DataStoreError`` to have the context
  /// fetch and delete the objects instead. Afterwards the context fetches all objects of the model to see which are
  /// left.
  func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}
