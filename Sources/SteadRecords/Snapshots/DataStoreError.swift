/// What a store says about a request that it does not answer as it is.
public enum DataStoreError: Error, Hashable, Sendable {
  /// The predicate cannot be used; the fetch throws this.
  case invalidPredicate
  /// The context is to fetch all objects, and to filter them itself.
  case preferInMemoryFilter
  /// The context is to sort the objects itself.
  case preferInMemorySort
  /// The store does not have what the call needs.
  case unsupportedFeature
}
