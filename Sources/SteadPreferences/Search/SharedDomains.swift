import Foundation
import SteadFiles

/// What all preferences of an environment share: volatile domains, property lists of others,
/// domains in memory, and the registry through which all their search lists are rebuilt.
final class SharedDomains: Sendable {
  let arguments: DomainStore
  let registration: DomainStore

  /// The domains by their names or paths.
  private struct State: Sendable {
    var volatile: [String: DomainStore] = [:]
    /// Domains of an environment without files, by their names.
    var memory: [String: DomainStore] = [:]
    /// What replaces domains whose files cannot be opened, by the path of the files: all
    /// preferences of a domain must have the same values.
    var replacements: [String: DomainStore] = [:]
    /// Domains that `setPersistentDomain` has changed, and whose values are in memory alone.
    var unstored: [String: Unstored] = [:]
  }

  /// A domain whose last change could not be stored.
  private struct Unstored: Sendable {
    /// nil if it couldn't be opened.
    var store: DomainStore?
    var error: PreferencesError
  }

  /// A search list, which registers itself and is not retained.
  private struct Reader: Sendable {
    weak var list: LiveSearchList?
  }

  private let state = ForkSafeLock(State())
  /// Property lists owned by others, by their paths, as long as a search list has them.
  private let layers = ForkSafeLock(WeakRegistry<String, PlistLayer>())
  /// Watches for missing domains, as long as a search list waits for them.
  private let watches = ForkSafeLock(WeakRegistry<String, PathWatch>())
  private let readers = ForkSafeLock<[Reader]>([])

  init(arguments: [String]) {
    self.arguments = DomainStore(inMemory: DomainName.arguments)
    registration = DomainStore(inMemory: DomainName.registration)
    // In memory nothing can fail.
    try? self.arguments.replaceContents(with: ArgumentDomain.fields(of: arguments))
  }

  /// Registers a search list, to be rebuilt with all others.
  func add(_ list: LiveSearchList) {
    // What may be the last reference is released once the lock is free. Registering is rare, so
    // lists that are gone are removed each time.
    let others = readers.withLock { readers in
      let others = readers.compactMap(\.list)
      readers = (others + [list]).map(Reader.init)
      return others
    }
    withExtendedLifetime(others) {}
  }

  /// Rebuilds all search lists, since a domain has appeared or disappeared.
  func renewLists(report: LiveSearchList.Report, isOwn: Bool = true) {
    for list in readers.withLock({ readers in readers.compactMap(\.list) }) {
      // Not under the lock: renewing opens domains, and calls observers, which may add further
      // lists.
      list.renew(report: report, isOwn: isOwn)
    }
  }

  /// Rebuilds the search lists whose domains have appeared or disappeared without a notification.
  func renewChangedLists(report: LiveSearchList.Report) {
    for list in readers.withLock({ readers in readers.compactMap(\.list) }) {
      list.renewIfChanged(report: report)
    }
  }

  // MARK: - Volatile domains

  var volatileNames: [String] {
    [DomainName.arguments, DomainName.registration]
      + state.withLock { $0.volatile.keys.sorted() }
  }

  func volatile(_ name: String) -> DomainStore? {
    switch name {
    case DomainName.arguments: arguments
    case DomainName.registration: registration
    default: state.withLock { $0.volatile[name] }
    }
  }

  /// A volatile domain, created if missing.
  func makeVolatile(_ name: String) -> DomainStore {
    if let found = volatile(name) { return found }
    // Before the lock is taken: locks do not nest, and a store has its own.
    let made = DomainStore(inMemory: name)
    return state.withLock { state in
      if let found = state.volatile[name] { return found }
      state.volatile[name] = made
      return made
    }
  }

  /// Removes a volatile domain. The two that take part in look-ups are emptied instead.
  func removeVolatile(_ name: String) {
    let removed = state.withLock { $0.volatile.removeValue(forKey: name) }
    guard removed == nil, let fixed = volatile(name) else { return }
    try? fixed.replaceContents(with: [:])
  }

  // MARK: - Domains in memory

  func memory(_ name: String) -> DomainStore? { state.withLock { $0.memory[name] } }

  func makeMemory(_ name: String, options: DomainStore.Options) -> DomainStore {
    let made = DomainStore(inMemory: name, options: options)
    return state.withLock { state in
      if let found = state.memory[name] { return found }
      state.memory[name] = made
      return made
    }
  }

  /// The domain in memory that replaces files which cannot be opened, until the process ends.
  func replacement(for path: String, named name: String) -> DomainStore {
    let made = DomainStore(inMemory: name)
    return state.withLock { state in
      if let found = state.replacements[path] { return found }
      state.replacements[path] = made
      return made
    }
  }

  // MARK: - Domains that are set by their names

  /// Changes a domain, and notes if it isn't stored for lack of files that can be written.
  func replaceContents(
    ofDomain name: String, opening store: () throws -> DomainStore?,
    with fields: PropertyList.Fields
  ) throws {
    var opened: DomainStore?
    do {
      opened = try store()
      try opened?.replaceContents(with: fields)
      state.withLock { _ = $0.unstored.removeValue(forKey: name) }
    } catch {
      let error = PreferencesError(error, domain: name)
      // With these codes the values are in memory. Any other error means that nothing was changed.
      if [.unavailable, .locked].contains(error.code) {
        state.withLock { [opened] in $0.unstored[name] = Unstored(store: opened, error: error) }
      }
      throw error
    }
  }

  /// Writes the domains that were set by their names and are not stored yet.
  ///
  /// `setPersistentDomain` changes domains other than an object's own, and only reports what fails.
  /// Without this, a tool that ends with ``Preferences/flush()`` could lose such values and still
  /// exit with success.
  ///
  /// - Throws: ``PreferencesError`` while that is impossible.
  func flushUnstored() throws {
    for (name, unstored) in state.withLock({ $0.unstored }) {
      // It could not even be opened, so the values are nowhere.
      guard let store = unstored.store else { throw unstored.error }
      do { try store.flush() } catch { throw PreferencesError(error, domain: name) }
      state.withLock { _ = $0.unstored.removeValue(forKey: name) }
    }
  }

  // MARK: - Property lists owned by others

  /// The property list at a URL: read when it is first requested, shared, and watched as long as
  /// it is retained.
  func layer(_ url: URL, report: (PreferencesError) -> Void) -> PlistLayer {
    let path = url.path(percentEncoded: false)
    if let found = layers.withLock({ $0[path] }) { return found }
    let made = PlistLayer(url)
    do {
      try made.load()
    } catch {
      report(PreferencesError(error, domain: nil))
    }
    let (registered, others) = layers.withLock { $0.register(made, as: path) }
    withExtendedLifetime(others) {}
    // Only the one that others see; a second one that lost the race is dropped.
    if registered === made { watch(made) }
    return registered
  }

  /// The watch of a name, shared, and started if it is new. It ends with its last owner.
  func watch(_ name: String, _ make: () -> PathWatch) -> PathWatch {
    if let found = watches.withLock({ $0[name] }) { return found }
    let made = make()
    let (registered, others) = watches.withLock { $0.register(made, as: name) }
    withExtendedLifetime(others) {}
    if registered === made { made.start() }
    return registered
  }

  /// The number of registered property lists and watches, including released ones; for tests.
  var registeredCount: Int { layers.withLock { $0.count } + watches.withLock { $0.count } }

  /// Reads all property lists of others again if they have changed.
  func reloadLayers(report: (PreferencesError) -> Void) {
    for layer in layers.withLock({ $0.all }) {
      do {
        try layer.load()
      } catch {
        report(PreferencesError(error, domain: nil))
      }
    }
  }
}

// MARK: - Watching

extension SharedDomains {
  /// Watches for the files of a missing domain, and rebuilds the search lists when they appear.
  func watchForDomain(_ name: String, in directory: URL) -> PathWatch {
    watch(directory.path(percentEncoded: false) + name) {
      PathWatch(directory, names: ["\(name).plist", "\(name).journal"]) { [weak self] in
        self?.renewLists(report: ErrorReports.sharedHandler, isOwn: false)
      }
    }
  }

  /// Watches a property list of others, and applies its changes.
  func watch(_ layer: PlistLayer) {
    let directory = layer.url.deletingLastPathComponent()
    // Its own watch, not one that an earlier layer may have left.
    let watch = PathWatch(directory, names: [layer.url.lastPathComponent]) {
      [weak self, weak layer] in
      if let self, let layer { reread(layer) }
    }
    layer.watch = watch
    watch.start()
  }

  /// Reads a property list after a change; if that fails, once more after a delay.
  private func reread(_ layer: PlistLayer) {
    do {
      try reload(layer)
    } catch {
      // The file may be half written. A second look later shows whether it stays so.
      Self.rereads.call(after: Self.writeGracePeriod) {
        do {
          try self.reload(layer)
        } catch {
          ErrorReports.sharedHandler(PreferencesError(error, domain: nil))
        }
      }
    }
  }

  /// How long the writer of a property list may take before a file that does not parse is reported.
  private static let writeGracePeriod = Duration.milliseconds(500)
  private static let rereads = SerialCalls()

  /// Reads a property list, and rebuilds the search lists if it has appeared or disappeared.
  private func reload(_ layer: PlistLayer) throws {
    let wasPresent = layer.store != nil
    try layer.load()
    // A list that has the layer reads through it. Only the layer's coming and going changes the
    // list.
    guard wasPresent != (layer.store != nil) else { return }
    renewLists(report: ErrorReports.sharedHandler, isOwn: false)
  }
}
