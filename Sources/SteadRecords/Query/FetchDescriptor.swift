public import Foundation

/// What to fetch: which objects, in which order, how many of them.
public struct FetchDescriptor<T: PersistentModel> {
  /// The objects to fetch; nil for all.
  public var predicate: Predicate<T>?
  /// The order; without it none is promised.
  public var sortBy: [SortDescriptor<T>]
  /// The greatest number of objects; nil for no limit.
  public var fetchLimit: Int?
  /// The number of objects to skip.
  public var fetchOffset: Int?
  /// Whether unsaved changes of the context count. True unless set otherwise.
  public var includePendingChanges = true
  /// The properties to read at once; the others are read when they are first used. Empty for all.
  public var propertiesToFetch: [PartialKeyPath<T>] = []
  /// Relationships to load together with the objects.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

  public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}

// Sendable: predicates and sort descriptors are values that their makers declare Sendable, and key
// paths of models hold no captured values.
extension FetchDescriptor: @unchecked Sendable {}
