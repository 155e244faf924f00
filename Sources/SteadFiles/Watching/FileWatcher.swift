import Foundation

/// Reports changes to a file, or to the contents of a directory, by any process.
///
/// ```swift
/// let watcher = try FileWatcher(file: settings)
/// for await _ in watcher {
///   reload()
/// }
/// ```
///
/// Watching begins when the watcher is created: changes before the first `next()` are kept for it. Each
/// iterator gets every change since its creation, the first one since the watcher's. Changes that nobody has
/// taken yet are combined, so a slow reader misses no name and costs no memory: beyond ``nameLimit`` names it
/// learns that anything may have changed.
///
/// The sequence ends when its task is cancelled, after ``cancel()``, and when the directory is removed or
/// renamed: the last element then means that anything may have changed. Watching stops with ``cancel()``, or
/// when the watcher and all its iterators are gone.
///
/// A file may be missing at first, be replaced, be removed and reappear: its name in the directory is
/// watched. The watcher reports what the system reports: writes, changes of dates and permissions, and names
/// that appear and disappear. Writes through a memory mapping are not seen until the file's date is set. On
/// Apple's systems a watcher of a whole directory sees names appear and disappear, but no writes.
///
/// All watchers of a process share one descriptor and one thread; nothing polls, unless the system has no
/// watch left: then `Stead.onProblem` is called once, and the files are polled every ``pollingInterval``
/// seconds until a watch is available. In the child of a fork the watchers created before it are silent until
/// another one is created.
public final class FileWatcher: AsyncSequence, Sendable {
  /// How many names are kept for a reader that does not collect them.
  public static let nameLimit = 1_000
  /// The interval, in seconds, at which files without a watch are polled.
  public static let pollingInterval = 1.0

  private let subscriptions: [WatchSubscription]
  private let broadcast = ChangeBroadcast()

  /// Watches every entry of a directory, but not of its subdirectories.
  ///
  /// - Throws: ``FileError``: `.notFound` when the directory does not exist, `.notAFile` when something else
  ///   has the name.
  public convenience init(directory: URL) throws {
    try self.init(directory: directory, names: nil) { _ in }
  }

  /// Watches one file, which need not exist yet; its directory must.
  ///
  /// A symbolic link is watched together with the file that it leads to when the watcher is created. The
  /// names in the changes are the file's own.
  ///
  /// - Throws: ``FileError`` as ``init(directory:)`` does.
  public convenience init(file: URL) throws {
    try self.init(file: file) {}
  }

  /// Watches one file as ``init(file:)`` does, and calls a function as ``init(directory:names:onChange:)`` does.
  package init(file: URL, onChange: @escaping @Sendable () -> Void) throws {
    let path = try file.checkedPath
    let target = try POSIXDisk().resolveLinks(path)
    let broadcast = broadcast
    subscriptions = (target == path ? [path] : [path, target]).map { watched in
      WatchSubscription(directory: watched.directoryPath, names: [watched.fileName]) {
        broadcast.post($0.isEverything ? $0 : Changes(names: [path.fileName]), isLast: $1)
        onChange()
      }
    }
    try start()
  }

  /// Watches a directory and calls a function, instead of or in addition to being a sequence.
  ///
  /// - Parameters:
  ///   - directory: An existing directory.
  ///   - names: The names in it to report; nil for all.
  ///   - onChange: Gets the names that changed; the empty set when anything may have, since the system
  ///     dropped changes or the directory is gone. It is called on the thread that all watchers share, one
  ///     call at a time, so it should be short; it may create and cancel watchers. One call may still be in
  ///     progress when ``cancel()`` returns.
  package init(
    directory: URL, names: Set<String>?, onChange: @escaping @Sendable (Set<String>) -> Void
  ) throws {
    let broadcast = broadcast
    let subscription = WatchSubscription(directory: try directory.checkedPath, names: names) {
      broadcast.post($0, isLast: $1)
      onChange($0.names)
    }
    subscriptions = [subscription]
    try start()
  }

  deinit { cancel() }

  private func start() throws {
    for subscription in subscriptions { try WatchHub.add(subscription) }
  }

  /// Stops watching and ends the sequence. A second call does nothing.
  public func cancel() {
    for subscription in subscriptions { WatchHub.remove(subscription) }
    broadcast.finish()
  }

  /// Whether it has ended, by ``cancel()`` or with its directory, and will report nothing more.
  package var isOver: Bool { broadcast.isOver }

  /// Makes the watchers inherited by a forked child work in it; elsewhere it does nothing.
  ///
  /// They report that anything may have changed. Costs a comparison when there was no fork.
  package static func restartAfterFork() { WatchHub.restartAfterFork() }

  /// Makes an iterator over the changes, with its own position.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(watcher: self, mailbox: broadcast.makeMailbox())
  }
}
