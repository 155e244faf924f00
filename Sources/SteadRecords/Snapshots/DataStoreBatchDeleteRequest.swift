public import Foundation

/// The objects that a store should delete.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
  /// The predicate that the objects match; nil for all.
  public let predicate: Predicate<T>?
  /// The editor that deletes them.
  public let editingState: EditingState
  /// Whether objects of subclasses are deleted, too.
  public let includeSubclasses: Bool
}
