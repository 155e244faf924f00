import Synchronization

/// Keys whose values should have been removed from a disk that could not be written to.
final class UnremovedKeys: Sendable {
  /// The maximum number of remembered keys. With more of them, nothing on the disk is valid until it has been emptied.
  static let limit = 10_000

  private let keys = Mutex<Set<String>>([])
  private let trust = DiskTrust()

  /// Whether the disk can be trusted with keys that aren't remembered.
  var isWhole: Bool { trust.isWhole }

  /// Whether the disk may have a value of the key that should have been removed.
  func mayHave(_ key: String) -> Bool { !isWhole || keys.withLock { $0.contains(key) } }

  func add(_ key: String) {
    let isFull = keys.withLock { keys in
      if keys.count >= Self.limit { return true }
      keys.insert(key)
      return false
    }
    if isFull { addAll() }
  }

  func remove(_ key: String) { _ = keys.withLock { $0.remove(key) } }

  func addAll() {
    trust.lose()
    keys.withLock { $0 = [] }
  }

  /// Empties the disk if needed, and returns whether it may be written to.
  func mend(_ disk: DiskCache) -> Bool { trust.mend { disk.removeEntries() } }

  /// Removes a key's value from the disk, or remembers it; returns whether it is removed.
  ///
  /// - Parameter origin: An object that already knows of the change.
  func remove(_ key: String, from disk: DiskCache, by origin: ChangeOrigin? = nil) -> Bool {
    let isRemoved = disk.removeValue(for: key, by: origin)
    if isRemoved { remove(key) } else { add(key) }
    return isRemoved
  }
}

/// Whether a disk holds data that should have been removed and could not be.
///
/// Such a disk is not used before it has been emptied: its data may be an earlier user's.
final class DiskTrust: Sendable {
  /// How often a removal has failed, and how many of these failures an emptying has made good.
  private let failures = Mutex((count: 0, mended: 0))

  /// Whether the disk may be used.
  var isWhole: Bool { failures.withLock { $0.count == $0.mended } }

  /// Notes that a removal has failed.
  func lose() { failures.withLock { $0.count += 1 } }

  /// Empties the disk if needed, and returns whether it may be used.
  ///
  /// - Parameter empty: Returns whether the disk is empty.
  func mend(_ empty: () -> Bool) -> Bool {
    let failed = failures.withLock { $0.count == $0.mended ? nil : $0.count }
    guard let failed else { return true }
    guard empty() else { return false }
    // A removal that has failed in the meantime needs another emptying.
    return failures.withLock { failures in
      failures.mended = max(failures.mended, failed)
      return failures.count == failures.mended
    }
  }
}
