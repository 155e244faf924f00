#if os(Linux) || os(Android)
  import CSteadFiles
  import Foundation

  /// Looks again and again at directories that the system has no watch left for, until it has.
  ///
  /// A thread does this for all of them, which is there for as long as it is needed.
  enum WatchPolling {
    private static let state = ForkSafeLock(State())

    static func add(_ subscription: WatchSubscription, since error: FileError) {
      let look = WatchLook(subscription)
      let isFirst = state.withLock { state -> Bool in
        state.restartAfterFork()
        state.looks[ObjectIdentifier(subscription)] = look
        state.startThread()
        defer { state.isTold = true }
        return !state.isTold
      }
      if isFirst { Stead.report(problem(error)) }
    }

    /// Says whether it was looked at.
    @discardableResult
    static func remove(_ subscription: WatchSubscription) -> Bool {
      // What a subscription holds may have locks of its own, which are not let go of while this one is held.
      let removed = state.withLock { $0.looks.removeValue(forKey: ObjectIdentifier(subscription)) }
      return removed != nil
    }

    static func restartAfterFork() {
      state.withLock { state in
        state.restartAfterFork()
        if !state.looks.isEmpty { state.startThread() }
      }
    }

    private static func problem(_ error: FileError) -> Stead.Problem {
      Stead.Problem(
        code: .watchLimit, product: .files, subject: error.path,
        message: error.message + " Until then, files are looked at every "
          + "\(FileWatcher.pollingInterval) seconds.")
    }

    /// What the thread does until there is nothing to look at.
    private static func run() {
      while true {
        // No event to wait for: that there is none is why this thread is here.
        usleep(useconds_t(FileWatcher.pollingInterval * 1_000_000))
        guard let looks = state.withLock({ $0.nextLooks() }) else { return }
        for look in looks { update(look) }
      }
    }

    private static func update(_ old: WatchLook) {
      let subscription = old.subscription
      if (try? WatchHub.watch(subscription)) != nil {
        // It may have been cancelled meanwhile.
        guard remove(subscription) else { return WatchHub.remove(subscription) }
        return subscription.deliver(.everything, false)
      }
      let new = WatchLook(subscription)
      let isOver = !new.isDirectory || new.directory != old.directory
      let isKept = state.withLock { state -> Bool in
        let id = ObjectIdentifier(subscription)
        guard state.looks[id] != nil else { return false }
        state.looks[id] = isOver ? nil : new
        return true
      }
      guard isKept else { return }
      if isOver { return subscription.deliver(.everything, true) }
      let names = new.names(since: old)
      if !names.isEmpty { subscription.deliver(FileWatcher.Changes(names: names), false) }
    }

    private struct State {
      var looks: [ObjectIdentifier: WatchLook] = [:]
      /// Whether the problem has been told since all could last be watched.
      var isTold = false
      private var isRunning = false
      private var generation = stead_fork_generation()

      mutating func restartAfterFork() {
        guard generation != stead_fork_generation() else { return }
        generation = stead_fork_generation()
        isRunning = false
      }

      mutating func startThread() {
        guard !isRunning else { return }
        // Without a thread the next one who watches tries again.
        isRunning = (try? DetachedThread.start { WatchPolling.run() }) != nil
      }

      /// What is to be looked at now; nil when that is nothing, and the thread ends.
      mutating func nextLooks() -> [WatchLook]? {
        guard !looks.isEmpty else {
          isRunning = false
          isTold = false
          return nil
        }
        return Array(looks.values)
      }
    }
  }

  /// What a directory's files were at one moment.
  private struct WatchLook: Sendable {
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

    /// The names that have come, changed or gone.
    func names(since old: WatchLook) -> Set<String> {
      var names = Set(files.keys.filter { files[$0] != old.files[$0] })
      for name in old.files.keys where files[name] == nil { names.insert(name) }
      return names
    }
  }
#endif
