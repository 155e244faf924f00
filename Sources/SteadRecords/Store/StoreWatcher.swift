import Dispatch
import Foundation
import SteadFiles

/// Calls a function whenever a store's write-ahead log is written to.
///
/// Where the log cannot be watched, other processes' commits are found when a context next fetches.
final class StoreWatcher: Sendable {
  private let watcher: FileWatcher

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
