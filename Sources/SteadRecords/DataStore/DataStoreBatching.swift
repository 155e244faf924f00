public import Foundation

/// A store that deletes objects by a predicate, without handing out snapshots of them first.
public protocol DataStoreBatching: DataStore {
  /// Deletes the objects that match.
  ///
  /// Called by `ModelContext.delete(model:where:)` for models that no relationship leads to or from. Throw
  /// a ``DataStoreError`` to have the context fetch and delete the objects instead.
  func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}

/// The objects that a store is to delete.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
  /// What the objects match; nil for all.
  public let predicate: Predicate<T>?
  /// Who deletes them.
  public let editingState: EditingState
  /// Whether objects of subclasses are deleted, too.
  public let includeSubclasses: Bool
}
