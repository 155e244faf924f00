public import Foundation

/// What to fetch: which objects, in which order, and how many.
public struct FetchDescriptor<T: PersistentModel> {
  /// The objects to fetch; nil for all.
  public var predicate: Predicate<T>?
  /// The order; unspecified if empty.
  public var sortBy: [SortDescriptor<T>]
  /// The maximum number of objects; nil for no limit.
  public var fetchLimit: Int?
  /// The number of objects to skip.
  public var fetchOffset: Int?
  /// Whether unsaved changes of the context are included; true by default.
  public var includePendingChanges = true
  /// The properties to read immediately; the others are read when they are first used. Empty for all.
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
