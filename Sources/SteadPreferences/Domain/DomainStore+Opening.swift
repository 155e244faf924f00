import Foundation
import SteadFiles

extension DomainStore {
  /// A domain's files, and how they are opened: with other options it is another store.
  private struct FileKey: Hashable {
    var path: String
    var options: DomainStore.Options
  }

  /// The open domains, one object each: all users in the process then share its table, its journal
  /// and its watch.
  private struct Registry {
    var stores = WeakRegistry<FileKey, DomainStore>()
    /// Domains that live until the process ends.
    var kept: [ObjectIdentifier: DomainStore] = [:]
  }

  private static let registry = ForkSafeLock(Registry())

  /// The domain in `directory/NAME.plist` and `directory/NAME.journal`: one shared object per
  /// process and options.
  ///
  /// Opening reads the journal, in time proportional to its length, and creates a missing directory
  /// and journal if allowed.
  ///
  /// - Throws: ``PreferencesError`` when the files cannot be read, or are of a newer version.
  static func open(
    domain: String, directory: URL, options: DomainStore.Options = DomainStore.Options()
  ) throws -> DomainStore {
    let path = directory.standardizedFileURL.appending(path: domain).path(percentEncoded: false)
    let key = FileKey(path: path, options: options)
    if let store = registry.withLock({ registry in registry.stores[key] }) { return store }
    // Not under the lock: another domain's opening need not wait for this one's. Two threads may
    // both read the files; the first to finish is kept.
    let new: DomainStore
    do {
      new = try DomainStore(domain, directory: directory, options: options)
    } catch {
      throw PreferencesError(error, domain: domain)
    }
    let (store, others) = registry.withLock { registry in registry.stores.register(new, as: key) }
    withExtendedLifetime(others) {}
    if store === new { store.watchLater() }
    return store
  }

  /// Keeps a shared domain whose values are in memory alone, so that they count until the process
  /// ends.
  ///
  /// It stays even after they were written: files that cannot be written are rare. Costs a
  /// descriptor, a mapping and a watch for each such domain that has files; the system's limits
  /// apply.
  func keepUntilExit() {
    // What may be the last reference to another one is released once the lock is free.
    let open = Self.registry.withLock { registry in registry.stores.all }
    // A domain in memory, or one that `storedContents` opened, is not shared.
    guard open.contains(where: { $0 === self }) else { return }
    Self.registry.withLock { registry in registry.kept[ObjectIdentifier(self)] = self }
  }

  /// Whether a domain has files.
  static func isPresent(domain: String, directory: URL) -> Bool {
    hasFiles(directory.appending(path: domain).path(percentEncoded: false))
  }

  /// Whether one of a domain's files exists. Two system calls, and no error where there is none.
  ///
  /// - Parameter base: The files' path without its extension.
  static func hasFiles(_ base: String) -> Bool {
    access(base + ".journal", F_OK) == 0 || access(base + ".plist", F_OK) == 0
  }

  /// How long after opening the files are watched, unless they are observed earlier.
  static let watchingDelay = Duration.milliseconds(100)
  private static let openings = SerialCalls()

  /// Starts watching after a delay, for which a short-lived program does not have to pay.
  private func watchLater() {
    Self.openings.call(after: Self.watchingDelay) { [weak self] in
      self?.startWatching()
      // Edits before the watch began are not reported.
      self?.refresh()
    }
  }

  // MARK: - Watching

  /// Watches the domain's files, so that edits by hand and other processes' changes are applied.
  ///
  /// Replaces a watcher that is over, as after its directory was removed.
  func startWatching() {
    let (old, directory) = state.withLock { state in (state.watcher, state.file?.directory) }
    // The watcher has its own lock: called under this one, it could wait for a fork forever.
    guard let directory, old?.isOver ?? true else { return }
    let watcher = try? FileWatcher(
      directory: directory, names: [name + ".plist", name + ".journal", name + ".waiting"]
    ) { [weak self] names in
      self?.filesChanged(names)
    }
    state.withLock { state in
      // Another thread may have started one meanwhile. This one then ends with its last reference.
      if state.watcher === old, watcher != nil { state.watcher = watcher }
    }
    if watcher == nil { watchAgainLater() }
  }

  /// Tries again every second while there are handlers, since no directory could be watched.
  private func watchAgainLater() {
    let isNeeded = state.withLock { state -> Bool in
      guard !state.handlers.isEmpty, !state.isWatchPlanned else { return false }
      state.isWatchPlanned = true
      return true
    }
    guard isNeeded else { return }
    Self.deliveries.call(after: .seconds(FileWatcher.pollingInterval)) { [weak self] in
      self?.state.withLock { $0.isWatchPlanned = false }
      self?.restartWatching()
    }
  }

  /// Reads the property list again once its writer must be done.
  func refreshLater() {
    // Later than the period by a margin, or the file would count as recent once more.
    let later = Duration.seconds(DomainFile.writeGracePeriod + 0.1)
    Self.deliveries.call(after: later) { [weak self] in _ = self?.refresh() }
  }

  /// Applies what the watcher has reported.
  ///
  /// - Parameter names: The files that may have changed; empty when the watcher does not know.
  private func filesChanged(_ names: Set<String>) {
    let isWaiting = names.contains(name + ".waiting")
    let hasPendingEvents = state.withLock { state -> Bool in
      guard let file = state.file else { return false }
      // Before reading, so that a write during the read wakes the watcher again.
      file.journal.clearNotice()
      // The watcher also reports this process's own writes, which need no catching up.
      let isNew = file.journal.hasNews || file.journal.isSpoilt
      var hasPendingEvents = isNew && state.catchUp(file)
      // Before other programs write to a file that has taken the journal's name.
      if names.contains(name + ".journal"), !file.isReadOnly, !file.journal.isInPlace {
        hasPendingEvents =
          state.reporting(file) { replay in try file.revalidate(&replay) } || hasPendingEvents
      }
      // Another program could not write. If the lock is free now, or this process keeps it, this
      // one can.
      if isWaiting, !file.isReadOnly || file.isPlain, file.waiting.isPresent {
        file.hasWaitingFile = true
        hasPendingEvents =
          state.reporting(file) { replay in try file.writeDeferred(&replay) } || hasPendingEvents
      }
      return hasPendingEvents || !file.problems.isEmpty
    }
    if hasPendingEvents { deliver() }
    if names.isEmpty || names.contains(name + ".plist") { refresh() }
    // The directory may have been moved away, and another one created.
    if names.isEmpty { Self.deliveries.call { [weak self] in self?.restartWatching() } }
  }

  /// Watches again, and finds what has happened in between.
  private func restartWatching() {
    let watcher = state.withLock { $0.watcher }
    guard watcher?.isOver ?? true else { return }
    // Restores a lost directory.
    refresh()
    startWatching()
    // Changes before the watch began are not reported.
    refresh()
  }
}

// MARK: - Registry

/// Shared objects by key, as long as they are retained elsewhere.
struct WeakRegistry<Key: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
  private struct Entry: Sendable {
    weak var object: Object?
  }

  private static var firstLimit: Int { 64 }

  private var entries: [Key: Entry] = [:]
  /// The number of entries at which those of released objects are removed.
  private var limit = firstLimit

  init() {}

  subscript(key: Key) -> Object? { entries[key]?.object }

  var all: [Object] { entries.values.compactMap(\.object) }

  /// The number of entries, including those of released objects.
  var count: Int { entries.count }

  /// Registers an object, or returns the one that has the key.
  ///
  /// Also returns objects whose last reference this may be: they have locks of their own, and must
  /// be released after the lock around the registry.
  mutating func register(
    _ object: Object, as key: Key
  ) -> (registered: Object, others: [Object]) {
    if let found = entries[key]?.object { return (found, []) }
    entries[key] = Entry(object: object)
    // Swept when the number has doubled, so that registering takes constant time on average.
    guard entries.count > limit else { return (object, []) }
    let live = entries.compactMap { key, entry in entry.object.map { (key, $0) } }
    entries = Dictionary(uniqueKeysWithValues: live.map { ($0.0, Entry(object: $0.1)) })
    limit = max(Self.firstLimit, 2 * entries.count)
    return (object, live.map(\.1))
  }
}
