import Foundation
import SteadFiles
import Synchronization

/// The registry of the stores on file that this process may write to.
///
/// Their logs are checkpointed when the process exits: a program that keeps its container in a global variable never closes
/// it. Stores are held weakly.
enum OpenStores {
  private struct WeakStore: Sendable { weak var store: RecordStore? }

  /// What is known of the open stores, guarded by one lock.
  private struct Content {
    var stores: [ObjectIdentifier: WeakStore] = [:]
    /// The commit logs of the stores; containers on one file share one.
    var logs: [ObjectIdentifier: ObjectIdentifier] = [:]
    /// Where each store was opened, to find a second one at the same path.
    var urls: [ObjectIdentifier: URL] = [:]
    /// Whether the exit handler was added.
    var endsWithProcess = false
  }

  private static let content = Mutex(Content())
  /// The process that has opened the stores. A forked child runs the same exit handlers, and must not touch its parent's
  /// connections (sqlite.org/howtocorrupt.html, section 2.6).
  private static let process = getpid()

  /// Registers a store. The first one adds the exit handler.
  static func add(_ store: RecordStore) {
    let isFirst = content.withLock { content in
      content.stores[ObjectIdentifier(store)] = WeakStore(store: store)
      content.logs[ObjectIdentifier(store)] = ObjectIdentifier(store.log)
      content.urls[ObjectIdentifier(store)] = store.configuration.url
      // Under the lock, so that one thread alone adds the handler.
      defer { content.endsWithProcess = true }
      return !content.endsWithProcess
    }
    guard isFirst else { return }
    // Evaluated now: a static constant is lazy, and a forked child would get its own number.
    _ = process
    atexit { OpenStores.emptyLogs() }
  }

  /// Forgets a store that is about to be closed, and returns whether it was known and may be used by this process.
  static func remove(_ store: RecordStore) -> Bool {
    content.withLock { content in
      content.stores[ObjectIdentifier(store)] = nil
      content.urls[ObjectIdentifier(store)] = nil
      return content.logs.removeValue(forKey: ObjectIdentifier(store)) != nil && getpid() == process
    }
  }

  /// Whether this process has a store open for writing that was at a URL.
  static func isOpen(_ url: URL) -> Bool {
    let name = url.lastPathComponent
    // Most names differ, which saves asking the file system.
    let others = content.withLock { Array($0.urls.values) }.filter { $0.lastPathComponent == name }
    if others.contains(where: { $0.path == url.path }) { return true }
    // Not under the lock: a file system may not answer for long.
    guard !others.isEmpty, let directory = directory(of: url) else { return false }
    return others.contains { Self.directory(of: $0) == directory }
  }

  /// Whether two URLs have one name in one directory, however the directory's path is written. Neither file has to exist.
  /// Where the directories don't, their paths are compared as text.
  static func isOnePlace(_ url: URL, _ other: URL) -> Bool {
    guard url.lastPathComponent == other.lastPathComponent else { return false }
    let (directory, otherDirectory) = (directory(of: url), directory(of: other))
    if directory != nil || otherDirectory != nil { return directory == otherDirectory }
    return url.standardizedFileURL.path == other.standardizedFileURL.path
  }

  /// A file's directory, to which several paths may lead.
  private static func directory(of url: URL) -> FileStatus.Identity? {
    try? POSIXDisk().statusFollowingLinks(url.deletingLastPathComponent().path)?.identity
  }

  /// Whether no store with a commit log is open.
  static func isClosed(_ log: CommitLog) -> Bool {
    content.withLock { !$0.logs.values.contains(ObjectIdentifier(log)) }
  }

  /// Ends the snapshots that no thread is reading, in all stores with a commit log.
  static func endSnapshots(of log: CommitLog) {
    // Only these: a store that is held here is closed by this thread if its container ends meanwhile.
    let stores = content.withLock { content in
      content.stores.compactMap { id, store in
        content.logs[id] == ObjectIdentifier(log) ? store.store : nil
      }
    }
    for store in stores { store.endIdleSnapshots() }
  }

  /// Moves all logs into their files, as the process exits.
  private static func emptyLogs() {
    guard getpid() == process else { return }
    let stores = content.withLock { $0.stores.values.compactMap(\.store) }
    // Without the lock, which the `deinit` of a store takes if its last reference ends here.
    for store in stores { store.emptyLogAtExit() }
  }
}
