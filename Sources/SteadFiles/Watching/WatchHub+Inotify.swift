#if os(Linux) || os(Android)
  import CSteadFiles
  import Foundation

  /// The process's single inotify descriptor, and the thread that waits on it.
  ///
  /// A thread, not a Dispatch source: Dispatch stops working in the child of a fork. The descriptor is
  /// created with the first watcher and closed after the last. A forked child shares its parent's descriptor,
  /// so it drops it and starts over.
  enum WatchHub {
    private static let state = ForkSafeLock(State())

    /// Starts watching, or polls while the system's limit is used up.
    static func add(_ subscription: WatchSubscription) throws {
      do {
        try watch(subscription)
      } catch let error as FileError where error.isWatchLimit {
        WatchPolling.add(subscription, since: error)
      }
    }

    static func watch(_ subscription: WatchSubscription) throws {
      try state.withLock { state in
        state.restartAfterFork()
        try state.add(subscription)
      }
    }

    static func remove(_ subscription: WatchSubscription) {
      state.withLock { $0.remove(subscription) }
      WatchPolling.remove(subscription)
    }

    static func restartAfterFork() {
      state.withLock { $0.restartAfterFork() }
      WatchPolling.restartAfterFork()
    }

    /// The thread's body; it runs until no watcher is left.
    fileprivate static func run(_ descriptor: Int32, first: [WatchSubscription.Delivery]) {
      // Room for 60 events with the longest names: 16 bytes, and a name of 255 bytes padded to 256.
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 8)
      defer { buffer.deallocate() }
      var deliveries = first
      while true {
        // Without the lock: a callback may create and cancel watchers.
        for delivery in deliveries { delivery.send() }
        guard state.withLock({ $0.isNeeded() }) else { return }
        // Blocks without the lock, or nobody could add or remove a watcher meanwhile.
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count < 0, errno == EINTR { continue }
        let events = InotifyEvent.parse(UnsafeRawBufferPointer(rebasing: buffer[..<max(count, 0)]))
        deliveries = state.withLock { $0.deliveries(for: events, hasFailed: count <= 0) }
      }
    }
  }

  extension WatchHub {
    private struct State {
      private var descriptor: Int32 = -1
      private var generation = stead_fork_generation()
      private var watches: [Int32: [WatchSubscription]] = [:]

      mutating func add(_ subscription: WatchSubscription) throws {
        let isFirst = descriptor < 0
        if isFirst { try openDescriptor() }
        do {
          // Before the thread starts: if it throws, no thread has to be ended.
          try watch(subscription)
          if isFirst { try startThread(first: []) }
        } catch {
          if isFirst { close() }
          throw error
        }
      }

      mutating func remove(_ subscription: WatchSubscription) {
        for (watch, subscriptions) in watches {
          let rest = subscriptions.filter { $0 !== subscription }
          guard rest.count < subscriptions.count else { continue }
          watches[watch] = rest.isEmpty ? nil : rest
          // The kernel answers by an event (IN_IGNORED), which wakes the thread to check whether it is still needed.
          if rest.isEmpty, isOwn { inotify_rm_watch(descriptor, watch) }
        }
      }

      /// Whether this process created the descriptor, and not the parent that it was forked from. Parent and child would
      /// take events away from each other.
      private var isOwn: Bool { generation == stead_fork_generation() }

      mutating func restartAfterFork() {
        guard !isOwn else { return }
        let inherited = watches.values.joined()
        close()
        generation = stead_fork_generation()
        guard !inherited.isEmpty else { return }
        var deliveries: [WatchSubscription.Delivery] = []
        let isOpen = (try? openDescriptor()) != nil
        for subscription in inherited {
          // One that can't be watched again ends, and its reader learns that.
          let isWatched = isOpen && (try? watch(subscription)) != nil
          deliveries.append(
            WatchSubscription.Delivery(
              subscription: subscription, changes: .everything, isLast: !isWatched))
        }
        if (try? startThread(first: deliveries)) == nil { close() }
      }

      /// Whether a watcher is left; closes the descriptor when none is.
      mutating func isNeeded() -> Bool {
        if watches.isEmpty { close() }
        return descriptor >= 0
      }

      /// Translates events into one delivery for each watcher, to be sent after the lock is released.
      ///
      /// Everything may have changed if the kernel dropped events, or a read has failed. A directory that is gone or was
      /// moved ends its watchers: inotify follows the directory, not its path.
      mutating func deliveries(for events: [InotifyEvent], hasFailed: Bool) -> [WatchSubscription
        .Delivery]
      {
        var found: [ObjectIdentifier: WatchSubscription.Delivery] = [:]
        func record(_ subscription: WatchSubscription, _ changes: FileWatcher.Changes, isLast: Bool)
        {
          let fresh = WatchSubscription.Delivery(subscription: subscription, changes: changes)
          found[ObjectIdentifier(subscription), default: fresh].changes.formUnion(changes)
          if isLast { found[ObjectIdentifier(subscription)]?.isLast = true }
        }
        for event in events where !event.isOverflow {
          guard let subscriptions = watches[event.watch] else { continue }
          for subscription in subscriptions {
            if event.isEnd {
              record(subscription, .everything, isLast: true)
            } else if !event.name.isEmpty, subscription.wants(event.name) {
              record(subscription, .init(names: [event.name]), isLast: false)
            }
          }
          if event.isEnd { watches[event.watch] = nil }
          if event.isMove { inotify_rm_watch(descriptor, event.watch) }
        }
        if hasFailed || events.contains(where: \.isOverflow) {
          for subscription in watches.values.joined() {
            record(subscription, .everything, isLast: hasFailed)
          }
          if hasFailed { watches = [:] }
        }
        return Array(found.values)
      }

      private mutating func openDescriptor() throws {
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        guard descriptor < 0 else { return }
        throw WatchHub.error(errno, "/proc/sys/fs/inotify/max_user_instances")
      }

      private mutating func close() {
        if descriptor >= 0 { _ = Foundation.close(descriptor) }
        descriptor = -1
        watches = [:]
      }

      private mutating func watch(_ subscription: WatchSubscription) throws {
        let path = subscription.directory
        let number = inotify_add_watch(descriptor, path, InotifyEvent.wanted)
        guard number >= 0 else { throw WatchHub.error(errno, path) }
        // The kernel has one number for a directory, however it is named, so several subscriptions may share it.
        watches[number, default: []].append(subscription)
      }

      private func startThread(first: [WatchSubscription.Delivery]) throws {
        try DetachedThread.start { [descriptor] in WatchHub.run(descriptor, first: first) }
      }
    }

    /// The kernel's messages for its limits would make the reader look for files and disk space.
    private static func error(_ number: Int32, _ path: String) -> FileError {
      var error = FileError(errno: number, doing: "watch the directory", path: path)
      if number == ENOSPC || number == EMFILE || number == ENFILE {
        error.code = .failed
        error.message =
          "The limit of watches is used up; raise fs.inotify.max_user_watches and "
          + "max_user_instances, or the limit of open files."
      }
      return error
    }
  }

  extension FileError {
    /// Whether the system has no watch left.
    fileprivate var isWatchLimit: Bool {
      let code = (cause as? POSIXError)?.code
      return code == .ENOSPC || code == .EMFILE || code == .ENFILE
    }
  }

  // MARK: - Events

  /// One event that the kernel reports for a watched directory.
  struct InotifyEvent {
    /// The watch descriptor of the directory; -1 when the kernel dropped events.
    var watch: Int32
    var mask: UInt32
    /// The name of the entry in the directory; empty for the directory itself.
    var name: String

    /// Stores into a mapping are not included; a writer that makes any sets the file's date.
    // IN_ONLYDIR makes the call fail for anything but a directory, also if that has just taken the name.
    static let wanted = UInt32(
      IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
        | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

    var isOverflow: Bool { has(IN_Q_OVERFLOW) }
    /// Whether the directory, or its name, is gone; the kernel keeps watching a moved directory under its new path.
    var isEnd: Bool {
      has(IN_DELETE_SELF) || has(IN_MOVE_SELF) || has(IN_UNMOUNT) || has(IN_IGNORED)
    }
    var isMove: Bool { has(IN_MOVE_SELF) }

    private func has(_ bit: some BinaryInteger) -> Bool { mask & UInt32(bit) != 0 }

    /// Parses the events that one `read` has put into a buffer.
    static func parse(_ buffer: UnsafeRawBufferPointer) -> [InotifyEvent] {
      let headerSize = MemoryLayout<inotify_event>.size
      var events: [InotifyEvent] = []
      var offset = 0
      while offset + headerSize <= buffer.count {
        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        let end = min(offset + headerSize + Int(event.len), buffer.count)
        // The kernel pads names with NULs.
        let bytes = buffer[(offset + headerSize)..<end].prefix { $0 != 0 }
        events.append(
          InotifyEvent(
            watch: event.wd, mask: event.mask, name: String(decoding: bytes, as: UTF8.self)))
        offset = end
      }
      return events
    }
  }
#endif
