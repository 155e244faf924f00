import Foundation
import Synchronization

/// What is still on a disk although it should have been removed or replaced, and must not be found
/// any more: it may be the data of a user who has logged out.
///
/// An object knows its own failures alone, so others find what is pending here. There are two kinds
/// of marks. One on a key means whatever the key has on the disk. One with metadata means the entry
/// that has them, for a key that several processes change: with other metadata it is valid.
///
/// Invariant: what was marked stays pending, by its own mark or with everything on the disk, until
/// it was replaced or removed, or the disk was cleared by a clearing that began afterwards. The
/// marks and whether everything is pending are under one lock, so that nobody finds something
/// pending for neither reason while one takes the place of the other.
final class PendingRemovals: Sendable {
  /// The maximum number of marks. With more of them, nothing on the disk is valid until it has been
  /// cleared.
  static let limit = 10_000

  private enum Mark {
    case anyEntry
    case entry(metadata: Data)

    /// Whether it can't mean an entry that is stored later.
    var namesEntry: Bool {
      switch self {
      case .anyEntry: false
      case .entry: true
      }
    }
  }

  private struct State {
    var marks: [String: Mark] = [:]
    /// How often everything became pending.
    var failureCount = 0
    /// How many of these times a later clearing has covered.
    var clearedCount = 0

    var isClear: Bool { failureCount == clearedCount }
  }

  private let state = Mutex(State())

  /// Whether what has no mark may be found on the disk.
  var isClear: Bool { state.withLock { $0.isClear } }

  /// Whether the disk may have a removed value of the key.
  func mayContain(_ key: String) -> Bool {
    state.withLock { !$0.isClear || $0.marks[key] != nil }
  }

  /// Whether a key's entry with these metadata is pending. Other metadata are another process's,
  /// which has replaced the entry, so they end the mark.
  func includes(_ key: String, metadata: Data) -> Bool {
    state.withLock { state in
      // The entry was read before everything became pending, which may have taken its mark.
      guard state.isClear else { return true }
      guard let mark = state.marks[key] else { return false }
      switch mark {
      case .anyEntry: return true
      case .entry(let left) where left == metadata: return true
      case .entry:
        state.marks[key] = nil
        return false
      }
    }
  }

  /// Adds a key's entry with these metadata, which could not be removed or replaced.
  func add(_ key: String, metadata: Data) { add(key, .entry(metadata: metadata)) }

  /// Adds a mark. At the limit everything becomes pending.
  private func add(_ key: String, _ mark: Mark) {
    state.withLock { state in
      // A key that has a mark already counts, too: at the limit the next failure clears everything,
      // which is rare and safe.
      if state.marks.count >= Self.limit {
        state.failureCount += 1
        state.marks = [:]
        // Covered by that, as in `addAll`.
        guard mark.namesEntry else { return }
      }
      state.marks[key] = mark
    }
  }

  /// Forgets a key, whose value on the disk was replaced or removed.
  func remove(_ key: String) { _ = state.withLock { $0.marks.removeValue(forKey: key) } }

  /// Makes everything on the disk invalid until it has been cleared.
  func addAll() {
    state.withLock { state in
      state.failureCount += 1
      // Marks on keys are covered by that, and after the clearing they would mean what others have
      // stored since. Marks with metadata stay: who has read such an entry before asks for its mark
      // afterwards.
      state.marks = state.marks.filter { $0.value.namesEntry }
    }
  }

  /// Clears the disk if everything on it is pending, and returns whether it may be written to.
  ///
  /// - Parameter clear: Removes everything from the disk, and returns whether that has succeeded.
  func clearIfNeeded(_ clear: () -> Bool) -> Bool {
    // No lock is held while the disk is cleared.
    let failureCount = state.withLock { $0.isClear ? nil : $0.failureCount }
    guard let failureCount else { return true }
    guard clear() else { return false }
    return state.withLock { state in
      // A removal that has failed meanwhile is not covered by this clearing.
      state.clearedCount = max(state.clearedCount, failureCount)
      return state.isClear
    }
  }

  /// Removes a key's value from the disk, or adds the key; returns whether it is removed.
  func remove(_ key: String, from disk: DiskCache, by origin: ChangeOrigin? = nil) -> Bool {
    let isRemoved = disk.removeValue(for: key, by: origin)
    if isRemoved { remove(key) } else { add(key, .anyEntry) }
    return isRemoved
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
