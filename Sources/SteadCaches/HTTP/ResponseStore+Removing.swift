import Foundation

extension ResponseStore {
  /// The most pages that are remembered because they could not be removed from the disk.
  private static let buriedLimit = 10_000

  /// The disk, unless it holds data that should have been removed.
  var usableDisk: DiskCache? { trust.isWhole ? disk : nil }

  /// The disk, unless it holds data that should have been removed and still can't be emptied.
  func diskForWriting() -> DiskCache? {
    guard let disk else { return nil }
    return trust.mend { disk.removeAll() } ? disk : nil
  }

  /// Removes the responses of a URL, also those that are on their way.
  func remove(_ key: CacheKey) {
    rights.revoke(key)
    let responses = look(key).page.responses
    changing.withLock { _ in _ = memory.removeValue(for: key) }
    // Again for changes that had seen the page in memory.
    rights.revoke(key)
    erase(key)
    removeBodies(of: responses)
  }

  /// The keys of all URLs that have responses.
  var keys: Set<CacheKey> {
    var keys = Set(memory.contents.filter { !$0.value.responses.isEmpty }.map(\.key))
    let prefix = pagePrefix
    for name in usableDisk?.keys(withPrefix: prefix) ?? [] {
      if let key = CacheKey(String(name.dropFirst(prefix.count))) { keys.insert(key) }
    }
    // A page in memory may be outdated by the disk, and one on the disk should perhaps have been removed.
    return keys.filter { !responses(for: $0).isEmpty }
  }

  /// Removes the responses of all URLs that begin with one, also those that are on their way.
  func remove(prefix: CacheKey) {
    let onTheirWay = rights.keys.compactMap { CacheKey($0) }
    for key in keys.union(onTheirWay) where key.string.utf8.starts(with: prefix.string.utf8) {
      remove(key)
    }
  }

  /// Removes all responses of a host, also those that are on their way.
  func remove(host: String) {
    let host = host.lowercasedASCII
    removeMany {
      $0.removeValues(taggedWith: "host " + host)
    } rest: { key, page in
      key.host == host ? StoredPage() : page
    }
  }

  /// Removes all responses that were stored at a date or later.
  func remove(storedSince date: Date) {
    removeFromPages(storedSince: date)
    removeMany {
      $0.removeValues(storedSince: date)
    } rest: { _, page in
      page.without(storedSince: date)
    }
  }

  /// Removes all responses, also those that are on their way.
  func removeAll() {
    removeMany {
      $0.removeAll()
    } rest: { _, _ in
      StoredPage()
    }
  }

  /// - Parameters:
  ///   - remove: Removes entries from the disk, and returns whether it could.
  ///   - rest: The part of a page that remains.
  private func removeMany(
    _ remove: (DiskCache) -> Bool, rest: (CacheKey, StoredPage) -> StoredPage
  ) {
    rights.revokeAll()
    clearMemory(rest)
    // Again for changes that had seen pages in memory.
    rights.revokeAll()
    if let disk, !remove(disk) { trust.lose() }
    clearMemory(rest)
  }

  private func clearMemory(_ rest: (CacheKey, StoredPage) -> StoredPage) {
    changing.withLock { _ in
      // Responses that are also on disk are read from there again.
      guard disk == nil else { return memory.removeAll() }
      for (key, page) in memory.contents {
        let rest = rest(key, page)
        if rest.responses.isEmpty {
          memory.removeValue(for: key)
        } else if rest.responses.count < page.responses.count {
          memory.setValue(rest, for: key, cost: rest.cost)
        }
      }
    }
  }

  /// Removes a page from disk and memory. What the disk fails to remove is nevertheless treated as gone.
  func erase(_ key: CacheKey) {
    let disk = usableDisk
    disk?.removeValue(for: onDisk(key))
    let left = disk?.entry(for: onDisk(key))?.metadata
    changing.withLock { _ in
      if let left { bury(key, left) }
      memory.removeValue(for: key)
    }
  }

  /// Remembers that the disk's version of a page is no longer valid.
  func bury(_ key: CacheKey, _ bytes: Data) {
    buried.withLock { buried in
      if buried.count >= Self.buriedLimit {
        trust.lose()
        buried.removeAll()
      }
      buried[key.string] = bytes
    }
  }

  /// Whether the disk's version of a page should have been removed.
  func isBuried(_ key: CacheKey, _ bytes: Data) -> Bool {
    buried.withLock { buried in
      guard let left = buried[key.string] else { return false }
      if left == bytes { return true }
      buried[key.string] = nil
      return false
    }
  }
}
