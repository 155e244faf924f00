public import Foundation

/// Which context asks, and its author. A store can use it to tell its own changes from those of others, and to keep
/// something for each context from ``DataStore/initializeState(for:)`` to ``DataStore/invalidateState(for:)``.
public struct EditingState: Hashable, Identifiable, Sendable {
  /// The context, by a random identifier that it has as long as it exists.
  public let id: UUID
  /// The context's author; nil if it has none.
  public let author: String?
}

// MARK: - Fetching

/// A context's request for the objects of a store that match a descriptor.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
  /// What is fetched. A predicate is over objects, not over snapshots: translate it, or leave it to the context with
  /// ``DataStoreError/preferInMemoryFilter``. `includePendingChanges` does not concern a store.
  public let descriptor: FetchDescriptor<T>
  /// The context that asks.
  public let editingState: EditingState
}

/// A store's reply to a fetch.
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot> {
  /// What was fetched: the request's descriptor.
  public let descriptor: FetchDescriptor<ModelType>
  /// The objects that match, in the descriptor's order.
  public let fetchedSnapshots: [SnapshotType]
  /// Objects that those refer to, if the store has them at hand; any others are fetched.
  public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

  /// A reply with the objects that match.
  ///
  /// - Parameters:
  ///   - descriptor: The request's.
  ///   - fetchedSnapshots: The objects in order, within limit and offset; each has an identifier of this store.
  ///   - relatedSnapshots: Objects that those refer to, which saves the context a fetch of them.
  public init(
    descriptor: FetchDescriptor<ModelType>, fetchedSnapshots: [SnapshotType],
    relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
  ) {
    self.descriptor = descriptor
    self.fetchedSnapshots = fetchedSnapshots
    self.relatedSnapshots = relatedSnapshots
  }
}

extension DataStoreFetchResult: Sendable {}

// MARK: - Saving

/// The changes of one save to one store.
public struct DataStoreSaveChangesRequest<SnapshotType: DataStoreSnapshot>: Sendable {
  /// New objects, with temporary identifiers, which relationships of other snapshots may contain, too.
  public let inserted: [SnapshotType]
  /// Changed objects, each with all of its values.
  public let updated: [SnapshotType]
  /// Deleted objects, as the context last knew them. The store may not have one that another program has deleted.
  public let deleted: [SnapshotType]
  /// The context that saves.
  public let editingState: EditingState
}

/// A store's reply to a save.
///
/// Name each inserted object in ``remappedIdentifiers``. Without a permanent identifier for one, the
/// context's save throws ``SwiftDataError/storeFailure``, although the store has saved.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
  /// The identifier of the store that replies.
  public let storeIdentifier: String
  /// The permanent identifier of each inserted object, by its temporary one: one of this store and of the same entity.
  public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
  /// Objects that the store keeps with different values than it was given, by identifier. The context's objects get
  /// them.
  public let snapshotsToReregister: [PersistentIdentifier: T]
  /// The save's position in the store's history; nil if it has none. Observers of ``ModelContext/didSave`` get it.
  public let historyToken: (any HistoryToken)?

  /// A reply without a position in a history.
  public convenience init(
    for storeIdentifier: String,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
    snapshotsToReregister: [PersistentIdentifier: T] = [:]
  ) {
    self.init(
      for: storeIdentifier, remappedIdentifiers: remappedIdentifiers,
      snapshotsToReregister: snapshotsToReregister, historyToken: nil)
  }

  /// A reply to a save.
  public init(
    for storeIdentifier: String,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
    snapshotsToReregister: [PersistentIdentifier: T] = [:], historyToken: (any HistoryToken)?
  ) {
    self.storeIdentifier = storeIdentifier
    self.remappedIdentifiers = remappedIdentifiers
    self.snapshotsToReregister = snapshotsToReregister
    self.historyToken = historyToken
  }
}

// MARK: - Deleting

/// The objects that a store should delete.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
  /// The predicate that the objects match; nil for all.
  public let predicate: Predicate<T>?
  /// The context that deletes them.
  public let editingState: EditingState
  /// Whether objects of subclasses are deleted, too.
  public let includeSubclasses: Bool
}

// MARK: - Errors

/// A store's reply to a request that it cannot answer as asked. The context then does the work itself, or throws.
public enum DataStoreError: Error, Hashable, Sendable {
  /// The predicate cannot be used; the fetch throws this to its caller.
  case invalidPredicate
  /// The context should fetch all objects and filter them itself, which needs memory for all objects of the class and
  /// of the classes that the predicate reads.
  case preferInMemoryFilter
  /// The context should sort the objects itself: it asks again without order, limit and offset.
  case preferInMemorySort
  /// The store does not have what the call needs. `erase()` throws it by default.
  case unsupportedFeature
}
