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
    // The directories are watched, not the file: it may be missing, and is replaced by a rename.
    let target = try POSIXDisk().resolveLinks(path)
    let broadcast = broadcast
    subscriptions = (target == path ? [path] : [path, target]).map { watched in
      WatchSubscription(directory: watched.directoryPath, names: [watched.fileName]) {
        broadcast.send($0.isEverything ? $0 : Changes(names: [path.fileName]), isLast: $1)
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
      broadcast.send($0, isLast: $1)
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
    AsyncIterator(watcher: self, buffer: broadcast.makeBuffer())
  }
}

// MARK: - Changes

extension FileWatcher {
  /// The changes since the last element.
  public struct Changes: Sendable, Hashable {
    /// The names of the changed files in the directory; empty when anything may have changed.
    public internal(set) var names: Set<String>

    /// Whether anything in the directory may have changed: check everything that matters.
    ///
    /// This happens when the system dropped changes because there were too many, or the directory has gone.
    public var isEverything: Bool { names.isEmpty }

    static let everything = Changes(names: [])

    mutating func formUnion(_ other: Changes) {
      guard !isEverything else { return }
      if other.isEverything {
        self = .everything
      } else {
        names.formUnion(other.names)
        if names.count > FileWatcher.nameLimit { self = .everything }
      }
    }
  }

  /// Waits for changes, one after the other; it ends with its task or its watcher.
  public struct AsyncIterator: AsyncIteratorProtocol {
    // A sequence that nobody else holds must stay alive while it is iterated over.
    private let watcher: FileWatcher
    private let buffer: ChangeBuffer
    private var signals: AsyncStream<Void>.AsyncIterator

    init(watcher: FileWatcher, buffer: ChangeBuffer) {
      self.watcher = watcher
      self.buffer = buffer
      signals = buffer.signals.makeAsyncIterator()
    }

    /// The changes since the last call; nil when the sequence has ended.
    public mutating func next() async -> Changes? {
      await next(isolation: nil)
    }

    /// The changes since the last call; nil when the sequence has ended.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Changes? {
      while await signals.next(isolation: actor) != nil {
        // A signal may find nothing, if the changes were taken with the one before.
        if let changes = buffer.take() { return changes }
      }
      return nil
    }
  }
}

// MARK: - Delivery

/// A directory, the names in it to report, and the function to call: what the hub of the platform gets from a watcher.
final class WatchSubscription: Sendable {
  let directory: String
  let names: Set<String>?
  let deliver: @Sendable (_ changes: FileWatcher.Changes, _ isLast: Bool) -> Void

  init(
    directory: String, names: Set<String>?,
    deliver: @escaping @Sendable (_ changes: FileWatcher.Changes, _ isLast: Bool) -> Void
  ) {
    self.directory = directory
    self.names = names
    self.deliver = deliver
  }

  func wants(_ name: String) -> Bool { names?.contains(name) ?? true }
}

extension WatchSubscription {
  /// A notification for one watcher: the changes, and whether they are the last.
  struct Delivery: Sendable {
    let subscription: WatchSubscription
    var changes: FileWatcher.Changes
    var isLast = false

    func send() { subscription.deliver(changes, isLast) }
  }
}

/// Delivers every change to the buffers of all iterators.
///
/// The buffers are held weakly: an iterator that nobody uses any more is forgotten at the next change.
final class ChangeBroadcast: Sendable {
  private struct Entry { weak var buffer: ChangeBuffer? }
  private struct State {
    var entries: [Entry] = []
    /// Collects the changes before the first iterator is made, which takes it over.
    var first: ChangeBuffer?
    var isOver = false
  }
  private let state: ForkSafeLock<State>

  init() {
    let first = ChangeBuffer()
    state = ForkSafeLock(State(entries: [Entry(buffer: first)], first: first))
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  func makeBuffer() -> ChangeBuffer {
    let (buffer, isOver) = state.withLock { state in
      if let first = state.first {
        state.first = nil
        return (first, state.isOver)
      }
      let buffer = ChangeBuffer()
      state.entries.append(Entry(buffer: buffer))
      return (buffer, state.isOver)
    }
    // Its iterator ends at once: no changes can come any more.
    if isOver { buffer.finish() }
    return buffer
  }

  func send(_ changes: FileWatcher.Changes, isLast: Bool) {
    for buffer in buffers(isOver: isLast) {
      buffer.add(changes)
      if isLast { buffer.finish() }
    }
  }

  func finish() {
    for buffer in buffers(isOver: true) { buffer.finish() }
  }

  // A buffer has a lock of its own, and such locks must not be nested, so it is called after this one is released.
  private func buffers(isOver: Bool) -> [ChangeBuffer] {
    state.withLock { state in
      if isOver { state.isOver = true }
      state.entries.removeAll { $0.buffer == nil }
      return state.entries.compactMap(\.buffer)
    }
  }
}

/// The changes that one iterator has not taken yet, combined into one element, so that a slow reader costs no memory.
final class ChangeBuffer: Sendable {
  /// Wakes the iterator. Holds at most one element, however many changes are added: the changes themselves are in `pending`.
  let signals: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let pending = ForkSafeLock<FileWatcher.Changes?>(nil)

  init() {
    (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func add(_ changes: FileWatcher.Changes) {
    pending.withLock { pending in
      if pending?.formUnion(changes) == nil { pending = changes }
    }
    continuation.yield()
  }

  func take() -> FileWatcher.Changes? {
    pending.withLock { pending in
      defer { pending = nil }
      return pending
    }
  }

  func finish() { continuation.finish() }
}
