import Foundation
import SteadFiles

/// Decides which domains are searched: created once, and turned into a ``SearchList`` whenever domains appear
/// or disappear.
struct SearchPlan: Sendable {
  enum Scope: Sendable { case anyHost, thisHost }

  var domain: String
  /// The directory of the domain's files; nil means the environment's for that name.
  var directory: URL?
  var options: DomainStore.Options
  var environment: SearchEnvironment
  var scope = Scope.anyHost
  /// Whether the caller gets the problem of files that can't be opened, and doesn't go on in memory.
  var isStrict = false

  /// The list as of now.
  ///
  /// A domain that cannot be opened for writing is replaced by one in memory, so that the program can
  /// continue; `previous` is the list before, whose replacement is kept. The sources returned with the list
  /// have to be kept as long as the list is in use.
  func list(
    suites: [String], previous: SearchList?, report: LiveSearchList.Report
  ) -> (list: SearchList, sources: SearchPlan.Sources) {
    var opening = Opening(plan: self)
    defer { for error in opening.errors { report(error) } }
    let target = opening.target(replacing: previous)

    var layers = opening.managed()
    if !environment.shared.arguments.isEmpty { layers.append(environment.shared.arguments) }
    layers += opening.hostStore(domain, target: target)
    layers += opening.userStore(domain, target: target)
    for suite in suites where suite != domain { layers += opening.suite(suite) }
    if domain != DomainName.global {
      layers += opening.hostStore(DomainName.global, target: target)
      layers += opening.present(DomainName.global)
    }
    layers += opening.allUsers()
    layers.append(environment.shared.registration)
    let list = SearchList(layers: layers, target: target, problem: opening.problem)
    if opening.problem != nil || !opening.errors.isEmpty { opening.sources.isConclusive = false }
    return (list, opening.sources)
  }

  /// The values that an administrator has forced for a domain, then for all.
  func managed(_ name: String, report: (PreferencesError) -> Void) -> [PlistLayer] {
    guard let directory = environment.directories.managed else { return [] }
    return [name, DomainName.global].map { name in
      let file = directory.appending(path: "\(name).plist", directoryHint: .notDirectory)
      return environment.shared.layer(file, report: report)
    }
  }

  /// The directory of a domain's files; nil when domains are kept in memory.
  func directory(of name: String) -> URL? {
    if name == domain, let directory { return directory }
    return environment.directories.config?.appending(path: name, directoryHint: .isDirectory)
  }

  /// With what the paths of a domain's files begin; nil when it is kept in memory.
  func base(of name: String, host: Bool) -> String? {
    guard let base = directory(of: name) else { return nil }
    let file = host ? "ByHost/\(name).\(environment.host)" : name
    return base.appending(path: file, directoryHint: .notDirectory).path(percentEncoded: false)
  }

  /// A domain of the environment, created if missing.
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

  /// An existing domain of the environment; searching for a missing one does not create it.
  ///
  /// With `follow` the search lists are rebuilt when it appears, as long as what that is passed is kept.
  func openPresent(
    _ name: String, host: Bool = false, onMissing: ((PathWatch) -> Void)? = nil
  ) throws -> DomainStore? {
    let file = host ? "\(name).\(environment.host)" : name
    guard let base = directory(of: name) else { return environment.shared.memory(file) }
    let directory = host ? base.appending(path: "ByHost", directoryHint: .isDirectory) : base
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

/// Opens the domains of a plan, and collects errors.
private struct Opening {
  let plan: SearchPlan
  var errors: [PreferencesError] = []
  var problem: PreferencesError?
  var sources = SearchPlan.Sources()

  init(plan: SearchPlan) { self.plan = plan }

  mutating func target(replacing previous: SearchList?) -> DomainStore {
    let isReplaced = previous?.problem != nil
    do {
      if let previous, !isReplaced { return previous.target }
      let store = try plan.open(
        plan.domain, host: plan.scope == .thisHost, options: plan.options)
      if plan.isStrict { try store.checkFiles() }
      if let previous {
        try store.apply(
          previous.target.contents().map { DomainEdit(key: $0.key, value: $0.value) })
        // Others have the same replacement, and must not write these again over newer ones.
        try previous.target.replaceContents(with: [:])
      }
      return store
    } catch {
      problem = PreferencesError(
        notOpened: error, domain: plan.domain, plan.directory(of: plan.domain),
        isKept: !plan.isStrict,
        DirectoryRemedy(isReadOnly: plan.options.isReadOnly, isNamed: plan.directory != nil))
      if let previous { return previous.target }
      if !plan.isStrict { errors.append(contentsOf: problem.map { [$0] } ?? []) }
      guard !plan.isStrict, let base = plan.base(of: plan.domain, host: plan.scope == .thisHost)
      else { return DomainStore(inMemory: plan.domain) }
      return plan.environment.shared.replacement(for: base, named: plan.domain)
    }
  }

  mutating func hostStore(
    _ name: String, target: DomainStore
  ) -> [DomainStore] {
    if name == plan.domain, plan.scope == .thisHost { return [target] }
    return watched(name, host: true)
  }

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

  /// An existing domain, or a watch for a missing one.
  private mutating func watched(_ name: String, host: Bool) -> [DomainStore] {
    if let base = plan.base(of: name, host: host) {
      sources.searchedPaths.append((base, DomainStore.hasFiles(base)))
    } else {
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
  /// The sources of a search list that have to be watched: property lists owned by others, and the locations
  /// of missing domains.
  struct Sources: Sendable {
    var layers: [PlistLayer] = [] {
      didSet { wereFilled = layers.map { $0.store != nil } }
    }
    var watches: [PathWatch] = []
    /// With what the paths of domains' files begin that are searched for, and whether they existed.
    var searchedPaths: [(base: String, wasPresent: Bool)] = []
    /// Whether all domains could be opened, and have files.
    var isConclusive = true
    private var wereFilled: [Bool] = []

    /// Whether a list made now would have the same domains. Costs two system calls for each domain that is searched for.
    var areUnchanged: Bool {
      isConclusive && zip(layers, wereFilled).allSatisfy { ($0.store != nil) == $1 }
        && searchedPaths.allSatisfy { DomainStore.hasFiles($0.base) == $0.wasPresent }
    }
  }
}
