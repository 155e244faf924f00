/// A store's reply to a request that it cannot answer as given.
public enum DataStoreError: Error, Hashable, Sendable {
  /// The predicate cannot be used; the fetch throws this.
  case invalidPredicate
  /// The context should fetch all objects and filter them itself.
  case preferInMemoryFilter
  /// The context should sort the objects itself.
  case preferInMemorySort
  /// The store does not have what the call needs.
  case unsupportedFeature
}
