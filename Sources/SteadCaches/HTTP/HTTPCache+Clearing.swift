public import Foundation

extension HTTPCache {
  /// Removes all responses of a URL, and what is on its way to be stored there.
  public func removeResponses(for url: URL) {
    if let key = CacheKey(url) { store.remove(key) }
  }

  /// Removes all responses of a host, on all its ports. Those of other hosts leave memory, too, and stay on disk.
  public func removeResponses(fromHost host: String) {
    store.remove(host: host)
  }

  /// Removes all responses that were stored at a date or later. All leave memory.
  public func removeResponses(storedSince date: Date) {
    store.remove(storedSince: date)
  }

  /// Removes all responses, and what is on its way to be stored.
  public func removeAll() {
    store.removeAll()
  }
}
