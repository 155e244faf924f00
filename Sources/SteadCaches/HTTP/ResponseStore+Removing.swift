import Foundation

extension ResponseStore {
  /// The most pages that are remembered because they could not be removed from the disk.
  private static let buriedLimit = 10_000

  /// Removes the responses of a URL, also those that are on their way.
  func remove(_ key: CacheKey) {
    rights.revoke(key)
    let responses = look(key).page.responses
    erase(key)
    removeBodies(of: responses)
  }

  /// Removes all responses of a host, also those that are on their way.
  ///
  /// Without a disk nothing tells which pages belong to the host, so all go.
  func remove(host: String) {
    rights.revokeAll()
    disk?.removeValues(taggedWith: "host " + host.lowercasedASCII)
    memory.removeAll()
  }

  /// Removes all responses that were stored at a date or later.
  func remove(storedSince date: Date) {
    rights.revokeAll()
    disk?.removeValues(storedSince: date)
    memory.removeAll()
  }

  /// Removes all responses, also those that are on their way.
  func removeAll() {
    rights.revokeAll()
    disk?.removeAll()
    memory.removeAll()
  }

  /// Removes a page from disk and memory. What the disk doesn't let go of is taken for gone all the same.
  func erase(_ key: CacheKey) {
    disk?.removeValue(for: key.onDisk)
    memory.removeValue(for: key.string)
    guard let left = disk?.entry(for: key.onDisk)?.metadata else { return }
    buried.withLock { buried in
      if buried.count >= Self.buriedLimit { buried.removeAll() }
      buried[key.string] = left
    }
  }

  /// Whether the page that the disk holds was to be removed.
  func isBuried(_ key: CacheKey, _ bytes: Data) -> Bool {
    buried.withLock { buried in
      guard let left = buried[key.string] else { return false }
      if left == bytes { return true }
      buried[key.string] = nil
      return false
    }
  }
}
