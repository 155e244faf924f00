import SteadCaches

extension Trace {
  /// The share of the requests that a `MemoryCache` answers.
  package func hitRatioOfMemoryCache() -> Double {
    let cache = MemoryCache<Int, Int>(countLimit: cacheSize, respondsToMemoryPressure: false)
    for key in requests where cache.value(for: key) == nil { cache.setValue(key, for: key) }
    return cache.statistics.hitRatio ?? 0
  }
}
