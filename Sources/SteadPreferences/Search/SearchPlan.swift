import Foundation
import SteadFiles

/// Decides which domains are searched, in which order, and opens them:
/// ``list(suites:previous:report:)`` turns it into a ``SearchList`` whenever domains appear or
/// disappear.
struct SearchPlan: Sendable {
  /// Whether the writable domain is the one for all machines or the one for this machine alone.
  enum Scope: Sendable { case anyHost, thisHost }

  var domain: String
  /// The directory of the domain's files; nil means the environment's for that name.
  var directory: URL?
  var options: DomainStore.Options
  var environment: SearchEnvironment
  var scope = Scope.anyHost
  /// Whether files that cannot be opened are an error for the caller. Otherwise the program goes on
  /// in memory.
  var isStrict = false

  /// Makes the list as of now.
  ///
  /// The order is the one that ``Preferences`` documents. A domain that cannot be opened for
  /// writing is replaced by one in memory, so that the program can go on.
  ///
  /// - Parameters:
  ///   - suites: The added suites, in order.
  ///   - previous: The list before. A replacement in memory is taken over from it, or written to
  ///     the files if these can be opened now.
  ///   - report: Gets what could not be opened or read.
  /// - Returns: The list, and its sources, which must be retained as long as the list is in use:
  ///   they hold the watches.
  func list(
    suites: [String], previous: SearchList?, report: LiveSearchList.Report
  ) -> (list: SearchList, sources: SearchPlan.Sources) {
    var opening = Opening(plan: self)
    defer { for error in opening.errors { report(error) } }
    let target = opening.target(replacing: previous)

    var layers = opening.managed()
    // Most programs have no arguments, and each layer costs a look-up per read.
    if !environment.shared.arguments.isEmpty { layers.append(environment.shared.arguments) }
    layers += opening.hostStore(domain, target: target)
    layers += opening.userStore(domain, target: target)
    // A suite that is the domain itself is searched already.
    for suite in suites where suite != domain { layers += opening.suite(suite) }
    if domain != DomainName.global {
      layers += opening.hostStore(DomainName.global, target: target)
      layers += opening.present(DomainName.global)
    }
    layers += opening.allUsers()
    // Even if empty: values may be registered later, and the list must not change for that.
    layers.append(environment.shared.registration)
    let list = SearchList(layers: layers, target: target, problem: opening.problem)
    if opening.problem != nil || !opening.errors.isEmpty { opening.sources.isConclusive = false }
    return (list, opening.sources)
  }

  /// The values that an administrator has forced for a domain, then those for all domains.
  func managed(_ name: String, report: (PreferencesError) -> Void) -> [PlistLayer] {
    guard let directory = environment.directories.managed else { return [] }
    return [name, DomainName.global].map { name in
      let file = directory.appending(path: "\(name).plist", directoryHint: .notDirectory)
      return environment.shared.layer(file, report: report)
    }
  }

  // MARK: - Opening

  /// The directory of a domain's files; nil when domains are kept in memory.
  func directory(of name: String) -> URL? {
    if name == domain, let directory { return directory }
    return environment.directories.config?.appending(path: name, directoryHint: .isDirectory)
  }

  /// The path of a domain's files without their extension; nil when it is kept in memory.
  func base(of name: String, host: Bool) -> String? {
    guard let base = directory(of: name) else { return nil }
    let file = host ? "ByHost/\(name).\(environment.host)" : name
    return base.appending(path: file, directoryHint: .notDirectory).path(percentEncoded: false)
  }

  /// A domain of the environment, whose directory and journal are created if missing.
  ///
  /// - Throws: ``PreferencesError``, or ``FileError`` if the home is missing, which is never
  ///   created: it may not be mounted yet.
  func open(_ name: String, host: Bool = false, options: DomainStore.Options) throws -> DomainStore
  {
    let file = host ? "\(name).\(environment.host)" : name
    guard let base = directory(of: name) else {
      return environment.shared.makeMemory(file, options: options)
    }
    let directory = host ? base.appending(path: "ByHost", directoryHint: .isDirectory) : base
    try environment.directories.home?.checkPresence(for: directory.checkedPath)
    return try DomainStore.open(domain: file, directory: directory, options: options)
  }

  /// A domain of the environment if it has files; looking for one does not create it.
  ///
  /// - Parameter onMissing: Gets a watch that rebuilds the search lists when the files appear, as
  ///   long as it is retained.
  func openPresent(
    _ name: String, host: Bool = false, onMissing: ((PathWatch) -> Void)? = nil
  ) throws -> DomainStore? {
    let file = host ? "\(name).\(environment.host)" : name
    guard let base = directory(of: name) else { return environment.shared.memory(file) }
    let directory = host ? base.appending(path: "ByHost", directoryHint: .isDirectory) : base
    // Searching must not create files: other programs would take them for a domain.
    guard DomainStore.isPresent(domain: file, directory: directory) else {
      if let onMissing { onMissing(environment.shared.watchForDomain(file, in: directory)) }
      return nil
    }
    return try DomainStore.open(domain: file, directory: directory, options: DomainStore.Options())
  }
}

extension DomainStore {
  var isEmpty: Bool { contents().isEmpty }
}

// MARK: - Opening a list

/// Opens the domains of one list, and collects errors and sources on the way.
private struct Opening {
  let plan: SearchPlan
  var errors: [PreferencesError] = []
  var problem: PreferencesError?
  var sources = SearchPlan.Sources()

  init(plan: SearchPlan) { self.plan = plan }

  /// The writable domain, or what replaces it in memory.
  mutating func target(replacing previous: SearchList?) -> DomainStore {
    let isReplaced = previous?.problem != nil
    do {
      // The target never changes once it is open; only a replacement is tried again.
      if let previous, !isReplaced { return previous.target }
      let store = try plan.open(
        plan.domain, host: plan.scope == .thisHost, options: plan.options)
      // `Preferences(domain:)` throws where others go on in memory.
      if plan.isStrict { try store.checkFiles() }
      if let previous {
        try store.apply(
          previous.target.contents().map { DomainEdit(key: $0.key, value: $0.value) })
        // Other lists share the replacement, and would otherwise write the same values again, over
        // newer ones.
        try previous.target.replaceContents(with: [:])
      }
      return store
    } catch {
      problem = PreferencesError(
        notOpened: error, domain: plan.domain, plan.directory(of: plan.domain),
        isKept: !plan.isStrict,
        DirectoryRemedy(isReadOnly: plan.options.isReadOnly, isNamed: plan.directory != nil))
      // Still impossible: the replacement goes on, with what was set meanwhile.
      if let previous { return previous.target }
      if !plan.isStrict { errors.append(contentsOf: problem.map { [$0] } ?? []) }
      guard !plan.isStrict, let base = plan.base(of: plan.domain, host: plan.scope == .thisHost)
      else { return DomainStore(inMemory: plan.domain) }
      // Shared by its path, so that all preferences of the domain see the same values.
      return plan.environment.shared.replacement(for: base, named: plan.domain)
    }
  }

  /// The values of a domain for this machine alone.
  mutating func hostStore(
    _ name: String, target: DomainStore
  ) -> [DomainStore] {
    if name == plan.domain, plan.scope == .thisHost { return [target] }
    return watched(name, host: true)
  }

  /// The values of the writable domain for all machines.
  mutating func userStore(
    _ name: String, target: DomainStore
  ) -> [DomainStore] {
    plan.scope == .anyHost ? [target] : present(name)
  }

  mutating func present(_ name: String) -> [DomainStore] {
    watched(name, host: false)
  }

  mutating func suite(_ name: String) -> [DomainStore] {
    watched(name, host: true)
      + stores { [plan] in try plan.open(name, options: DomainStore.Options()) }
  }

  mutating func managed() -> [DomainStore] {
    let layers = plan.managed(plan.domain) { errors.append($0) }
    sources.layers += layers
    return layers.compactMap(\.store)
  }

  mutating func allUsers() -> [DomainStore] {
    let (shared, directories) = (plan.environment.shared, plan.environment.directories.allUsers)
    return [plan.domain, DomainName.global].flatMap { name in
      directories.compactMap { directory in
        let file = directory.appending(path: "\(name)/\(name).plist", directoryHint: .notDirectory)
        let layer = shared.layer(file) { errors.append($0) }
        sources.layers.append(layer)
        return layer.store
      }
    }
  }

  /// A domain that has files, or a watch that waits for them.
  private mutating func watched(_ name: String, host: Bool) -> [DomainStore] {
    if let base = plan.base(of: name, host: host) {
      sources.searchedPaths.append((base, DomainStore.hasFiles(base)))
    } else {
      // A domain in memory appears without any file that could be looked for.
      sources.isConclusive = false
    }
    var watches: [PathWatch] = []
    let found = stores { [plan] in
      try plan.openPresent(name, host: host) { watches.append($0) }
    }
    sources.watches += watches
    return found
  }

  private mutating func stores(_ open: () throws -> DomainStore?) -> [DomainStore] {
    do {
      return try open().map { [$0] } ?? []
    } catch {
      errors.append(PreferencesError(error, domain: plan.domain))
      return []
    }
  }
}

extension SearchPlan {
  // MARK: - Sources

  /// What a list depends on besides its domains: property lists of others, and the locations of
  /// missing domains.
  struct Sources: Sendable {
    var layers: [PlistLayer] = [] {
      didSet { wereFilled = layers.map { $0.store != nil } }
    }
    var watches: [PathWatch] = []
    /// The paths of searched domains without their extensions, and whether there were files.
    var searchedPaths: [(base: String, wasPresent: Bool)] = []
    /// Whether everything could be opened, and has files. Otherwise ``areUnchanged`` is unknown,
    /// and counts as false.
    var isConclusive = true
    private var wereFilled: [Bool] = []

    /// Whether a list made now would have the same domains. Costs two system calls for each domain
    /// that is searched for.
    var areUnchanged: Bool {
      isConclusive && zip(layers, wereFilled).allSatisfy { ($0.store != nil) == $1 }
        && searchedPaths.allSatisfy { DomainStore.hasFiles($0.base) == $0.wasPresent }
    }
  }
}
