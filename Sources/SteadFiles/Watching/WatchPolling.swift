#if os(Linux) || os(Android)
  import CSteadFiles
  import Foundation

  /// Polls directories for which the system has no watch left, until it has one.
  ///
  /// One thread does this for all of them, and exists only as long as it is needed.
  enum WatchPolling {
    private static let state = ForkSafeLock(State())

    static func add(_ subscription: WatchSubscription, since error: FileError) {
      // Before the lock is taken, since this reads the directory.
      let snapshot = DirectorySnapshot(subscription)
      let isFirst = state.withLock { state -> Bool in
        state.restartAfterFork()
        state.snapshots[ObjectIdentifier(subscription)] = snapshot
        state.startThread()
        defer { state.isReported = true }
        return !state.isReported
      }
      // Once, not for each watcher, and without the lock, since the handler is the program's.
      if isFirst { Stead.report(problem(error)) }
    }

    /// Returns whether it was polled.
    @discardableResult
    static func remove(_ subscription: WatchSubscription) -> Bool {
      // The subscription's own deinit may take locks, so it is not released while this lock is held.
      let removed = state.withLock {
        $0.snapshots.removeValue(forKey: ObjectIdentifier(subscription))
      }
      return removed != nil
    }

    static func restartAfterFork() {
      state.withLock { state in
        state.restartAfterFork()
        if !state.snapshots.isEmpty { state.startThread() }
      }
    }

    private static func problem(_ error: FileError) -> Stead.Problem {
      Stead.Problem(
        code: .watchLimit, product: .files, subject: error.path,
        message: error.message + " Until then, files are looked at every "
          + "\(FileWatcher.pollingInterval) seconds.")
    }

    /// The thread's body; it runs until nothing is left to poll.
    private static func run() {
      while true {
        // A sleep, as the system has no event to wait for.
        usleep(useconds_t(FileWatcher.pollingInterval * 1_000_000))
        guard let snapshots = state.withLock({ $0.nextSnapshots() }) else { return }
        for snapshot in snapshots { update(snapshot) }
      }
    }

    /// Moves a watcher to the hub if the system has a watch for it by now; otherwise compares its files with the last snapshot.
    ///
    /// After a move the watcher learns that anything may have changed, since something may have between the last snapshot and
    /// the watch.
    private static func update(_ old: DirectorySnapshot) {
      let subscription = old.subscription
      if (try? WatchHub.watch(subscription)) != nil {
        // It may have been cancelled meanwhile.
        guard remove(subscription) else { return WatchHub.remove(subscription) }
        return subscription.deliver(.everything, false)
      }
      let new = DirectorySnapshot(subscription)
      // Another directory of the same name ends the watcher, too, as inotify would report the removal of the old one.
      let isOver = !new.isDirectory || new.directory != old.directory
      let isKept = state.withLock { state -> Bool in
        let id = ObjectIdentifier(subscription)
        guard state.snapshots[id] != nil else { return false }
        state.snapshots[id] = isOver ? nil : new
        return true
      }
      guard isKept else { return }
      if isOver { return subscription.deliver(.everything, true) }
      let names = new.names(since: old)
      if !names.isEmpty { subscription.deliver(FileWatcher.Changes(names: names), false) }
    }

    private struct State {
      var snapshots: [ObjectIdentifier: DirectorySnapshot] = [:]
      /// Whether the problem has been reported since everything could last be watched.
      var isReported = false
      private var isRunning = false
      private var generation = stead_fork_generation()

      mutating func restartAfterFork() {
        guard generation != stead_fork_generation() else { return }
        generation = stead_fork_generation()
        isRunning = false
      }

      mutating func startThread() {
        guard !isRunning else { return }
        // If no thread could be started, the next watcher tries again.
        isRunning = (try? DetachedThread.start { WatchPolling.run() }) != nil
      }

      /// What to poll next; nil when nothing is left, and the thread ends.
      mutating func nextSnapshots() -> [DirectorySnapshot]? {
        guard !snapshots.isEmpty else {
          isRunning = false
          isReported = false
          return nil
        }
        return Array(snapshots.values)
      }
    }
  }

  /// The status of the files in a directory at one moment.
  private struct DirectorySnapshot: Sendable {
    let subscription: WatchSubscription
    let directory: FileStatus.Identity?
    private let files: [String: FileStatus]

    init(_ subscription: WatchSubscription) {
      self.subscription = subscription
      let disk = POSIXDisk()
      let path = subscription.directory
      let found = try? disk.statusFollowingLinks(path)
      directory = found?.kind == .directory ? found?.identity : nil
      let names = subscription.names.map(Array.init) ?? (try? disk.names(in: path)) ?? []
      var files: [String: FileStatus] = [:]
      for name in names { files[name] = try? disk.status(at: path + "/" + name) }
      self.files = files
    }

    var isDirectory: Bool { directory != nil }

    /// The names that have appeared, changed or disappeared.
    func names(since old: DirectorySnapshot) -> Set<String> {
      var names = Set(files.keys.filter { files[$0] != old.files[$0] })
      for name in old.files.keys where files[name] == nil { names.insert(name) }
      return names
    }
  }
#endif
