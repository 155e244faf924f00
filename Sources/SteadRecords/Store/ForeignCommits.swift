import Dispatch
import Foundation
import SteadFiles
import Synchronization

/// Notices commits of other processes to a store as they are made, and asks the listening contexts to look.
///
/// Where the log cannot be watched, they are found when a context next fetches.
///
/// Belongs to a store, which is passed to each call and held weakly in between, so that watching doesn't keep it open.
final class ForeignCommits: Sendable {
  /// Whether looks at the log are scheduled, and whether it was written since they were.
  private enum Looking {
    static let none = 0
    /// Looks are scheduled.
    static let later = 1
    /// The log was written since that began.
    static let again = 2
  }
  /// The state of the looks, as ``Looking`` names it.
  private let looking = Atomic<Int>(Looking.none)
  /// Not timers of Dispatch's: the first one of a program ends it if no descriptor is free.
  private let looks = SerialCalls()
  /// Reports writes to the log; nil until ``watch(_:)``.
  private let watcher = Mutex<StoreWatcher?>(nil)

  /// Starts watching the store's file; once is enough.
  func watch(_ store: RecordStore) {
    guard !store.configuration.isStoredInMemoryOnly else { return }
    watcher.withLock { watcher in
      if watcher != nil { return }
      // nil if the directory cannot be watched; the next call tries again.
      watcher = StoreWatcher(store: store.configuration.url) { [weak store] in
        if let store { store.foreignCommits.logChanged(store) }
      }
    }
  }

  /// Asks the listening contexts to look, if the store has a commit that they were not notified of.
  private func look(_ store: RecordStore) {
    let log = store.log
    let outsiderCount = log.outsiderCount
    do {
      // Reading records a change without a number, too, which raises `outsiderCount`.
      let number = try store.read(.newest) { $1 }
      if log.tell(number) || log.outsiderCount != outsiderCount { log.notify() }
    } catch {
      Report.problem("Other processes' changes could not be read from the store: \(error)")
    }
  }

  /// Looks for commits of other processes after the log was written.
  ///
  /// Pages are written to the log before the commit is visible. So the look is repeated a little later, twice: once
  /// for a commit under way, once for one that waits for the disk. A write during these adds no further ones, but
  /// begins them again at their end.
  private func logChanged(_ store: RecordStore) {
    look(store)
    // Of several threads only one schedules the looks. The others leave `again`, which repeats
    // them.
    if looking.exchange(Looking.again, ordering: .acquiringAndReleasing) == Looking.none {
      lookLater(store)
    }
  }

  /// Looks for commits 10 and 110 milliseconds from now, on a queue of its own.
  private func lookLater(_ store: RecordStore) {
    looking.store(Looking.later, ordering: .releasing)
    looks.call(after: .milliseconds(10)) { [weak self, weak store] in
      if let self, let store { look(store) }
      self?.looks.call(after: .milliseconds(100)) { [weak self, weak store] in
        guard let self, let store else { return }
        // A write in the meantime starts its own two checks.
        let isWanted =
          looking.exchange(Looking.none, ordering: .acquiringAndReleasing) == Looking.again
        isWanted ? logChanged(store) : look(store)
      }
    }
  }
}

/// Calls a function whenever a store's write-ahead log is written to.
final class StoreWatcher: Sendable {
  private let watcher: FileWatcher

  /// nil if the store's directory cannot be watched.
  init?(store: URL, onChange: @escaping @Sendable () -> Void) {
    let log = store.lastPathComponent + "-wal"
    // All watchers share a thread, which must not wait for a commit's effects.
    let queue = DispatchQueue(label: "stead.store-watcher", qos: .utility)
    guard
      let watcher = try? FileWatcher(
        directory: store.deletingLastPathComponent(), names: [log],
        onChange: { _ in queue.async(execute: onChange) })
    else { return nil }
    self.watcher = watcher
  }

  deinit { watcher.cancel() }
}
