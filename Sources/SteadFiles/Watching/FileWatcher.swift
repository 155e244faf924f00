import Foundation

/// Tells of changes to a file, or to whatever is in a directory, made by any process.
///
/// ```swift
/// let watcher = try FileWatcher(file: settings)
/// for await _ in watcher {
///   reload()
/// }
/// ```
///
/// Watching begins when the watcher is made: what happens between then and the first `next()` is kept
/// for it. Each iterator gets every change from the time it was made, the first one from the
/// beginning. Changes that nobody has taken yet are put together, so a slow reader loses no name and
/// costs no memory: above ``nameLimit`` names it is told that anything may have changed.
///
/// The sequence ends when its task is cancelled, after ``cancel()``, and when the directory is removed
/// or gets another name: then the last element says that anything may have changed. Watching stops
/// with ``cancel()``, or when the watcher and all its iterators are gone.
///
/// A file may be missing at first, be replaced by another one, be removed and come again: it is its
/// name in the directory that is watched. Told is what the system tells: writes, changes of dates and
/// permissions, and names that come and go. Writes through a memory mapping are not seen before the
/// file's date is set. On Apple's systems a watcher of a whole directory sees names come and go, and
/// no writes.
///
/// All watchers of a process share one descriptor and one thread; nothing polls, unless the system has no watch
/// left: then `Stead.onProblem` is told once, and the files are looked at every ``pollingInterval`` seconds
/// until it has. In the child of a fork the watchers made before it are silent until another one is made.
public final class FileWatcher: AsyncSequence, Sendable {
  /// How many names are kept for a reader that does not come for them.
  public static let nameLimit = 1_000
  /// How often, in seconds, files are looked at that the system has no watch for.
  public static let pollingInterval = 1.0

  private let subscriptions: [WatchSubscription]
  private let broadcast = ChangeBroadcast()

  /// Watches everything that is directly in a directory.
  ///
  /// - Throws: ``FileError``: `.notFound` when there is no such directory, `.notAFile` when something
  ///   else has the name.
  public convenience init(directory: URL) throws {
    try self.init(directory: directory, names: nil) { _ in }
  }

  /// Watches one file, which need not exist yet; its directory must.
  ///
  /// A symbolic link is watched together with what it leads to when the watcher is made. The names in
  /// the changes are the file's own.
  ///
  /// - Throws: ``FileError`` as ``init(directory:)`` does.
  public convenience init(file: URL) throws {
    try self.init(file: file) {}
  }

  /// Watches one file as ``init(file:)`` does, and calls a function as ``init(directory:names:onChange:)``.
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

  /// Watches a directory and calls a function, instead of, or beside, being a sequence.
  ///
  /// - Parameters:
  ///   - directory: A directory that exists.
  ///   - names: What to tell of in it; nil for everything.
  ///   - onChange: Gets the names that changed; the empty set when anything may have, since the system
  ///     lost count or the directory is gone. It is called on the thread that all watchers share, one
  ///     call at a time, so it should be short; it may make and cancel watchers. One call may still be
  ///     under way when ``cancel()`` returns.
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

  /// Whether it has ended, by ``cancel()`` or with its directory: it will tell of nothing more.
  package var isOver: Bool { broadcast.isOver }

  /// Makes the watchers that a forked child has inherited work in it; elsewhere it does nothing.
  ///
  /// They are told that anything may have changed. Costs a comparison when there was no fork.
  package static func restartAfterFork() { WatchHub.restartAfterFork() }

  /// An iterator over the changes; each has its own place in them.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(watcher: self, mailbox: broadcast.makeMailbox())
  }
}
