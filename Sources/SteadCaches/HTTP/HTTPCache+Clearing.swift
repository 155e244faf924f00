public import Foundation

extension HTTPCache {
  /// Removes all responses of a URL, and those that are on their way to be stored there.
  public func removeResponses(for url: URL) {
    if let key = self.key(url) { store.remove(key) }
  }

  /// Removes all responses whose URLs begin with a URL, and those that are on their way to be stored there.
  ///
  /// Both are compared without fragments, with scheme and host in lower case: `https://a.example/b` is the beginning of
  /// `https://a.example/b?c` and of `https://a.example/bc`, so end a directory with a slash. Costs a look at every
  /// response.
  public func removeResponses(withPrefix url: URL) {
    if let key = self.key(url) { store.remove(prefix: key) }
  }

  /// The URLs that have responses, in no particular order. Costs a look at every response.
  public var storedURLs: [URL] { store.keys.compactMap { URL(string: $0.string) } }

  /// Removes all responses of a host, on all its ports.
  ///
  /// Other hosts' responses stay. If the cache has a disk, they leave memory and stay on disk.
  ///
  /// If the disk can't be written, the same happens as in ``removeAll()``.
  public func removeResponses(fromHost host: String) {
    store.remove(host: host)
  }

  /// Removes all responses that were stored at a date or later. A confirmation by the server doesn't count as storing.
  ///
  /// Older ones stay. If the cache has a disk, they leave memory and stay on disk.
  ///
  /// If the disk can't be written, the same happens as in ``removeAll()``.
  public func removeResponses(storedSince date: Date) {
    store.remove(storedSince: date)
  }

  /// Removes all responses, and those that are on their way to be stored, also of questions that requests have left in the
  /// background (`stale-while-revalidate`).
  ///
  /// If the disk can't be written, because it is full or a stopped process holds its lock, this object works in memory
  /// until it has emptied the disk, which it tries whenever it stores a response. The files hold the responses until
  /// then, and other objects and processes find them.
  public func removeAll() {
    store.removeAll()
  }
}
