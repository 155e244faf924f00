/// A store that deletes objects by a predicate, without handing out snapshots of them first.
public protocol DataStoreBatching: DataStore {
  /// Deletes the objects that match.
  ///
  /// Called by `ModelContext.delete(model:where:)` for models that no relationship leads to or from. Throw
  /// a ``DataStoreError`` to have the context fetch and delete the objects instead.
  func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}
