public import Foundation

/// The objects that a store is to delete.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
  /// What the objects match; nil for all.
  public let predicate: Predicate<T>?
  /// Who deletes them.
  public let editingState: EditingState
  /// Whether objects of subclasses are deleted, too.
  public let includeSubclasses: Bool
}
