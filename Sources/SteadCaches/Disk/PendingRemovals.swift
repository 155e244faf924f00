import Synchronization

/// Keys whose values could not be removed from a disk, and must not be found any more.
final class PendingRemovals: Sendable {
  /// The maximum number of keys. With more of them, nothing on the disk is valid until it has been
  /// cleared.
  static let limit = 10_000

  private let keys = Mutex<Set<String>>([])
  private let pendingClear = PendingClear()

  /// Whether keys that aren't pending may be found on the disk.
  var isClear: Bool { pendingClear.isClear }

  /// Whether the disk may have a removed value of the key.
  func mayContain(_ key: String) -> Bool { !isClear || keys.withLock { $0.contains(key) } }

  /// Adds a key whose value could not be removed. At the limit everything becomes pending.
  func add(_ key: String) {
    let isFull = keys.withLock { keys in
      // A key that is in the set already counts, too: at the limit the next failure clears
      // everything, which is rare and safe.
      if keys.count >= Self.limit { return true }
      keys.insert(key)
      return false
    }
    // Outside of the lock, which `addAll` acquires itself.
    if isFull { addAll() }
  }

  /// Forgets a key, whose value on the disk was replaced or removed.
  func remove(_ key: String) { _ = keys.withLock { $0.remove(key) } }

  /// Makes everything on the disk invalid until it has been cleared.
  func addAll() {
    pendingClear.markDirty()
    // The mark before the keys go: a reader in between finds a key pending for both reasons. In the
    // other order it could find neither.
    keys.withLock { $0 = [] }
  }

  /// Clears the disk if that is pending, and returns whether it may be written to.
  func clearIfNeeded(_ disk: DiskCache) -> Bool {
    pendingClear.clearIfNeeded { disk.removeEntries() }
  }

  /// Removes a key's value from the disk, or adds the key; returns whether it is removed.
  func remove(_ key: String, from disk: DiskCache, by origin: ChangeOrigin? = nil) -> Bool {
    let isRemoved = disk.removeValue(for: key, by: origin)
    if isRemoved { remove(key) } else { add(key) }
    return isRemoved
  }
}

/// Whether a disk has to be cleared before it is used again, since a removal has failed: its data
/// may be those of a user who has logged out.
final class PendingClear: Sendable {
  /// The number of failed removals, and how many of them a later clearing has covered.
  private let failures = Mutex((count: 0, cleared: 0))

  /// Whether the disk may be used as it is.
  var isClear: Bool { failures.withLock { $0.count == $0.cleared } }

  /// Records that a removal has failed.
  func markDirty() { failures.withLock { $0.count += 1 } }

  /// Clears the disk if needed, and returns whether it may be used.
  ///
  /// - Parameter empty: Clears it, and returns whether that has succeeded.
  func clearIfNeeded(_ empty: () -> Bool) -> Bool {
    let failed = failures.withLock { $0.count == $0.cleared ? nil : $0.count }
    guard let failed else { return true }
    guard empty() else { return false }
    // A removal that has failed meanwhile is not covered by this clearing.
    return failures.withLock { failures in
      failures.cleared = max(failures.cleared, failed)
      return failures.count == failures.cleared
    }
  }
}

// MARK: - Locks of keys

/// Striped locks for the changes of keys: a change waits for the disk, and changes of other keys
/// must not wait with it.
final class KeyLocks: Sendable {
  private final class Lock: Sendable {
    let mutex = Mutex(())
  }

  private static let count = 64
  private let locks = (0..<count).map { _ in Lock() }

  /// Runs a body while nothing else changes the key. The body must not run the program's code.
  func withLock<Result: Sendable>(of key: String, _ body: () -> Result) -> Result {
    let number = Int(UInt(bitPattern: key.hashValue) % UInt(Self.count))
    // Not recursive: a body that acquired another key's lock could deadlock with one that does the
    // reverse.
    return locks[number].mutex.withLock { _ in body() }
  }

  /// Runs a body while nothing else changes any key.
  func withAllLocks<Result: Sendable>(_ body: () -> Result) -> Result {
    withLocks(locks[...], body)
  }

  // In a fixed order, so that two callers can't deadlock.
  private func withLocks<Result: Sendable>(
    _ rest: ArraySlice<Lock>, _ body: () -> Result
  ) -> Result {
    guard let first = rest.first else { return body() }
    return first.mutex.withLock { _ in withLocks(rest.dropFirst(), body) }
  }
}
