import Foundation
import Synchronization

/// Lets one thread at a time save a context: a save waits for another thread's, such as the main context's autosave
/// for a save on a worker thread.
///
/// Recursive, since a transaction's block saves. A context's other work needs no lock, because one thread does it.
///
/// The first lock in the order in which a thread may take them:
///
/// 1. the `SaveLock` of a context,
/// 2. the lock of each store's ``StoreWriter``, in the order of the container's stores (a mirror's is held while the app's
///    own store runs),
/// 3. SQLite's write lock of the file,
/// 4. locks under which no other is taken and no code of an app runs: those of `CommitLog`, `CommitListener`,
///    `ObjectRegistry`, `ReaderPool` and `OpenStores`.
///
/// A thread within a transaction of one of the context's stores does not wait for the first: `lock(waits: false)`
/// fails instead.
final class SaveLock: @unchecked Sendable {
  // Sendable: the condition's lock guards what changes.
  private let condition = NSCondition()
  /// The thread that has the lock, or 0.
  private var owner: UInt = 0
  private var depth = 0
  /// Whether a turn of the context found the lock taken.
  private var hasMissedTurn = false

  /// Takes the lock, waiting for another thread if the caller may wait.
  ///
  /// - Returns: Whether the lock was taken.
  func lock(waits: Bool) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    // The thread that has the lock may take it again: the block of its transaction may save.
    let thread = CurrentThread.number
    while owner != 0, owner != thread {
      guard waits else { return false }
      condition.wait()
    }
    owner = thread
    depth += 1
    return true
  }

  /// Takes the lock for a turn, which must not block the context's executor: on the main actor that would freeze the
  /// app for as long as a save on another thread waits for a store.
  ///
  /// If another thread has the lock, the turn is skipped, and ``unlock()`` reports that the context needs another
  /// one.
  func lockForTurn() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    let thread = CurrentThread.number
    guard owner == 0 || owner == thread else {
      hasMissedTurn = true
      return false
    }
    owner = thread
    depth += 1
    return true
  }

  /// - Returns: Whether a turn was missed, and the context needs another.
  func unlock() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    depth -= 1
    guard depth == 0 else { return false }
    owner = 0
    // One is enough: each waiter wakes the next as it unlocks. A turn does not wait.
    condition.signal()
    defer { hasMissedTurn = false }
    return hasMissedTurn
  }
}

// MARK: - Notifications

/// A notification that a save posts if the program may observe it.
///
/// The notification centre does not reveal whether it has observers, and posting without any costs as much as a third
/// of saving a row. But an observer has read the notification's name before.
final class SaveNotification: Sendable {
  static let willSave = SaveNotification("SwiftData.ModelContext.willSave")
  static let didSave = SaveNotification("SwiftData.ModelContext.didSave")

  private let name: Notification.Name
  private let isKnown = Atomic<Bool>(false)

  private init(_ name: String) { self.name = Notification.Name(name) }

  /// The name, for the program.
  var nameForObservers: Notification.Name {
    // From now on the saves of all contexts post it.
    isKnown.store(true, ordering: .releasing)
    return name
  }

  /// Whether the program has asked for the name.
  var mayHaveObservers: Bool { isKnown.load(ordering: .acquiring) }

  /// Posts the notification on this thread, if the program may observe it and the context still exists.
  func post(_ context: ModelContext?, _ summary: SaveSummary? = nil) {
    guard mayHaveObservers, let context else { return }
    NotificationCenter.default.post(name: name, object: context, userInfo: summary?.userInfo)
  }

}
