#if canImport(Darwin)
  import Dispatch
  import Foundation

  // Not run on this project's machines.

  /// The watches of the process, each made of Dispatch sources, which share one kqueue.
  ///
  /// A kqueue reports that a directory's names have changed, not which, and reports changes of a file's
  /// contents only to processes that have the file open. On Apple's systems Dispatch cannot be used in the
  /// child of a fork, so nothing has to be restarted.
  enum WatchHub {
    static let queue = DispatchQueue(label: "stead.file-watcher", qos: .utility)
    private static let watches = ForkSafeLock<[ObjectIdentifier: VnodeWatch]>([:])

    static func add(_ subscription: WatchSubscription) throws {
      let watch = try VnodeWatch(subscription)
      watches.withLock { $0[ObjectIdentifier(subscription)] = watch }
      watch.activate()
    }

    static func remove(_ subscription: WatchSubscription) {
      // Taken out of the lock before it is released, since its deinit may take other locks.
      let watch = watches.withLock { $0.removeValue(forKey: ObjectIdentifier(subscription)) }
      watch?.cancel()
    }

    static func restartAfterFork() {}
  }

  /// A directory, and those of its files that are requested by name, as far as they exist.
  ///
  /// `files` is accessed by `init` before any source is active, and only by the queue from then on, so never
  /// by two threads at once. Everything else is constant.
  private final class VnodeWatch: @unchecked Sendable {
    private let subscription: WatchSubscription
    private let directory: any DispatchSourceFileSystemObject
    private var files: [String: any DispatchSourceFileSystemObject] = [:]

    init(_ subscription: WatchSubscription) throws {
      self.subscription = subscription
      directory = try Self.makeSource(subscription.directory, O_DIRECTORY)
      directory.setEventHandler { [weak self] in self?.directoryChanged() }
      openFiles()
    }

    func activate() {
      directory.activate()
      WatchHub.queue.async { [self] in
        for file in files.values { file.activate() }
      }
    }

    func cancel() {
      directory.cancel()
      WatchHub.queue.async { [self] in closeFiles() }
    }

    private func directoryChanged() {
      guard directory.data.isDisjoint(with: [.delete, .rename, .revoke]) else {
        subscription.deliver(.everything, true)
        WatchHub.remove(subscription)
        return
      }
      guard let names = subscription.names else {
        subscription.deliver(.everything, false)
        return
      }
      // A name may lead to another file now. It is opened before the change is reported, so that no write is
      // missed in between.
      closeFiles()
      openFiles()
      for file in files.values { file.activate() }
      subscription.deliver(FileWatcher.Changes(names: names), false)
    }

    private func openFiles() {
      for name in subscription.names ?? [] {
        let path = subscription.directory + "/" + name
        guard let source = try? Self.makeSource(path, O_NONBLOCK) else { continue }
        source.setEventHandler { [weak self] in
          self?.subscription.deliver(FileWatcher.Changes(names: [name]), false)
        }
        files[name] = source
      }
    }

    private func closeFiles() {
      for file in files.values { file.cancel() }
      files = [:]
    }

    private static func makeSource(
      _ path: String, _ flags: Int32
    ) throws -> any DispatchSourceFileSystemObject {
      // O_EVTONLY: a descriptor that is only watched doesn't keep a volume from being unmounted.
      let descriptor = try POSIXDisk().open(path, O_EVTONLY | flags, mode: 0)
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor,
        eventMask: [.write, .extend, .attrib, .delete, .rename, .revoke], queue: WatchHub.queue)
      source.setCancelHandler { POSIXDisk().close(descriptor) }
      return source
    }
  }
#endif
