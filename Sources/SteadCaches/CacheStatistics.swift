/// What a cache has done since it was made, or since its counts were reset.
public struct CacheStatistics: Sendable, Hashable {
  /// How often a value was requested and found.
  public var hits = 0
  /// How often a value was requested and not found, or found expired.
  public var misses = 0
  /// How many values were removed to keep a limit.
  public var evictions = 0

  /// Makes statistics of a cache that has done nothing yet.
  public init() {}

  /// The share of requests that found a value, between 0 and 1; nil before the first request.
  public var hitRatio: Double? {
    let requests = hits + misses
    return requests == 0 ? nil : Double(hits) / Double(requests)
  }
}
