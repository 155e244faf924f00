import Foundation
import SteadFiles
import SteadFormats
@testable import SteadPreferences

/// Runs a sequence against preferences and against the reference, until they differ.
struct ModelRun {
  typealias Domain = ModelOperation.Domain

  /// Where they differ.
  struct Difference: Error, CustomStringConvertible {
    let description: String
  }

  private let home: TestHome
  private var reference: ModelReference
  private var objects: Objects

  /// - Parameter seed: Decides about what an administrator and all users have.
  init(seed: UInt64) throws {
    var random = SplitMix(seed: seed ^ 0x5EED)
    func contents() -> [Int: Int] {
      guard Int.random(in: 0..<3, using: &random) == 0 else { return [:] }
      return [
        Int.random(in: 0..<ModelValues.keys.count, using: &random):
          Int.random(in: 0..<8, using: &random)
      ]
    }
    home = try TestHome(inMemory: true)
    reference = ModelReference(managed: contents(), allUsers: contents())
    try home.write(Self.fields(reference.managed), to: home.managed.file("com.example.app.plist"))
    try home.write(
      Self.fields(reference.allUsers), to: home.allUsers.file("NSGlobalDomain/NSGlobalDomain.plist")
    )
    objects = try Objects(home)
  }

  mutating func run(_ operations: [ModelOperation]) throws {
    for (place, operation) in operations.enumerated() {
      try perform(operation)
      reference.apply(operation)
      try compareValues("after call \(place)")
    }
    objects.synchronize()
    try compareValues("at the end")
    try compareFiles()
    try objects.changes.compare { reference.value($0).map { ModelValues.all[$0] } }
  }

  // MARK: Calls

  private mutating func perform(_ operation: ModelOperation) throws {
    switch operation {
    case .set(let writer, let key, let value):
      try set(writer, key, value)
    case .removeAll(let writer): try objects.preferences(writer).removeAll()
    case .register(let contents): objects.app.register(defaults: Self.anyContents(contents))
    case .replaceRegistered(let contents):
      objects.app.setVolatileDomain(
        Self.anyContents(contents), forName: Preferences.registrationDomain)
    case .removeRegistered:
      objects.app.removeVolatileDomain(forName: Preferences.registrationDomain)
    case .replaceArguments(let contents):
      objects.app.setVolatileDomain(
        Self.anyContents(contents), forName: Preferences.argumentDomain)
    case .removeArguments: objects.app.removeVolatileDomain(forName: Preferences.argumentDomain)
    case .addSuite(let suite): objects.app.addSuite(named: Objects.suiteNames[suite])
    case .removeSuite(let suite): objects.app.removeSuite(named: Objects.suiteNames[suite])
    case .replaceDomain(let domain, let contents): try replace(domain, contents)
    case .removeDomain(let domain): try replace(domain, nil)
    case .other(let domain, let key, let value):
      try store(domain).set(value.map { ModelValues.all[$0] }, forKey: ModelValues.keys[key])
      objects.synchronizeIfNew(domain)
    case .otherCheckpoint(let domain):
      try store(domain).checkpoint()
      objects.synchronizeIfNew(domain)
    case .edit(let domain, let key, let value, let byRenaming):
      try edit(domain, key, value, byRenaming: byRenaming)
      objects.synchronize()
    case .editBeside(let writer, let key, let value, let otherKey, let otherValue):
      try edit(writer.domain, key, value, byRenaming: true)
      try set(writer, otherKey, otherValue)
      objects.synchronize()
    case .damage(let domain, let bit): try damage(domain, bit)
    case .synchronize: objects.synchronize()
    case .reopen:
      try objects.changes.compare { reference.value($0).map { ModelValues.all[$0] } }
      // The old ones go first, or the new ones would share what they have read.
      objects = Objects.none
      objects = try Objects(home)
    }
  }

  private func set(_ writer: ModelOperation.Writer, _ key: Int, _ value: Int?) throws {
    try objects.preferences(writer).setPropertyList(
      value.map { ModelValues.all[$0] }, forKey: ModelValues.keys[key])
  }

  /// `scopedToCurrentHost()` has no domain of a name.
  private func replace(_ domain: Domain, _ contents: [Int: Int]?) throws {
    guard domain != .host else {
      let store = try store(.host)
      try store.replaceContents(with: Self.fields(contents ?? [:]))
      return objects.synchronize()
    }
    let name = Objects.name(domain)
    if let contents {
      objects.app.setPersistentDomain(Self.anyContents(contents), forName: name)
    } else {
      objects.app.removePersistentDomain(forName: name)
    }
  }

  /// As another process has it: an object of its own.
  private func store(_ domain: Domain) throws -> DomainStore {
    let (name, directory) = place(domain)
    return try DomainStore(name, directory: directory, options: DomainStore.Options())
  }

  private func place(_ domain: Domain) -> (name: String, directory: URL) {
    let name = Objects.name(domain)
    let directory = home.config.appending(path: name, directoryHint: .isDirectory)
    guard domain == .host else { return (name, directory) }
    return ("\(name).host1", directory.appending(path: "ByHost", directoryHint: .isDirectory))
  }

  private func plist(_ domain: Domain) -> URL {
    let (name, directory) = place(domain)
    return directory.file(name + ".plist")
  }

  /// What the property list holds; a domain that was never set has none.
  private func published(_ domain: Domain) throws -> PropertyList.Fields {
    guard let data = try AtomicFile(plist(domain)).readIfPresent() else { return [:] }
    return try PropertyList.fields(of: data)
  }

  private func edit(_ domain: Domain, _ key: Int, _ value: Int?, byRenaming: Bool) throws {
    try store(domain).checkpoint()
    let file = plist(domain)
    var fields = try published(domain)
    fields[ModelValues.keys[key]] = value.map { ModelValues.all[$0] }
    try BinaryPropertyList.encode(fields).write(to: file, options: byRenaming ? .atomic : [])
  }

  private func damage(_ domain: Domain, _ bit: Int) throws {
    try store(domain).checkpoint()
    let file = plist(domain)
    var status = stat()
    guard lstat(file.filePath, &status) == 0, status.st_size > 0 else { return }
    var data = try Data(contentsOf: file)
    let bit = bit % (data.count * 8)
    data[bit / 8] ^= 1 << (bit % 8)
    // Nobody writes the journal before the file has its date again.
    let (name, directory) = place(domain)
    try POSIXDisk().withDescriptor(directory.file(name + ".journal").filePath, O_RDWR) { journal in
      flock(journal, LOCK_EX)
      let handle = try FileHandle(forWritingTo: file)
      try handle.write(contentsOf: data)
      try handle.close()
      var times = [status.st_atim, status.st_mtim]
      utimensat(AT_FDCWD, file.filePath, &times, 0)
    }
    try store(domain).checkpoint()
    objects.synchronize()
  }

  // MARK: Comparing

  private func compareValues(_ moment: String) throws {
    for (key, name) in ModelValues.keys.enumerated() {
      try compare(
        objects.app.propertyList(forKey: name), reference.value(key), "\(name), \(moment)")
      for suite in 0...1 {
        try compare(
          objects.suites[suite].propertyList(forKey: name), reference.value(key, ofSuite: suite),
          "\(name) of suite \(suite), \(moment)")
      }
      guard let value = reference.value(key) else { continue }
      let typed = Preferences.Key<Int>(name, default: -99)
      if case .integer(let number) = ModelValues.all[value], objects.app[typed] != Int(number) {
        throw Difference(description: "\(name) as an Int, \(moment)")
      }
    }
    let keys = Set(objects.app.dictionaryRepresentation().keys)
    let expected = ModelValues.keys.indices.filter { reference.value($0) != nil }
    if keys != Set(expected.map { ModelValues.keys[$0] }) {
      throw Difference(description: "the keys, \(moment): \(keys.sorted())")
    }
  }

  private func compare(_ found: PropertyList?, _ expected: Int?, _ what: String) throws {
    guard found != expected.map({ ModelValues.all[$0] }) else { return }
    throw Difference(
      description:
        "\(what): \(Self.text(found)) instead of \(Self.text(expected.map { ModelValues.all[$0] }))"
    )
  }

  private static func text(_ value: PropertyList?) -> String {
    String("\(value.map { "\($0)" } ?? "nothing")".prefix(60))
  }

  /// What another process finds, in the journal and in the property list.
  private func compareFiles() throws {
    for domain in Domain.allCases {
      let expected = Self.fields(reference.domains[domain] ?? [:])
      let store = try store(domain)
      guard PropertyList.Fields(store.contents()) == expected else {
        throw Difference(description: "the journal of \(domain)")
      }
      try store.checkpoint()
      guard try published(domain) == expected else {
        throw Difference(description: "the property list of \(domain)")
      }
    }
  }

  private static func fields(_ contents: [Int: Int]) -> PropertyList.Fields {
    PropertyList.Fields(
      contents.map { .init(ModelValues.keys[$0.key], ModelValues.all[$0.value]) })
  }

  private static func anyContents(_ contents: [Int: Int]) -> [String: Any] {
    fields(contents).anyValue
  }
}

/// The objects of one process.
private struct Objects {
  static let appID = "com.example.app"
  static let suiteNames = ["com.example.first", "com.example.second"]

  let app: Preferences
  let suites: [Preferences]
  let host: Preferences
  let changes: ModelChanges

  /// Objects of no files.
  static var none: Objects { Objects(Preferences.inMemory()) }

  private init(_ memory: Preferences) {
    (app, suites, host) = (memory, [memory, memory], memory)
    changes = ModelChanges(memory)
  }

  init(_ home: TestHome) throws {
    let environment = home.environment(appID: Self.appID)
    let app = try Preferences(environment: environment)
    self.app = app
    suites = try Self.suiteNames.map { try Preferences(domain: $0, environment: environment) }
    host = app.scopedToCurrentHost()
    changes = ModelChanges(app)
  }

  static func name(_ domain: ModelOperation.Domain) -> String {
    switch domain {
    case .app, .host: appID
    case .firstSuite: suiteNames[0]
    case .secondSuite: suiteNames[1]
    case .global: Preferences.globalDomain
    }
  }

  func preferences(_ writer: ModelOperation.Writer) -> Preferences {
    switch writer {
    case .app: app
    case .firstSuite: suites[0]
    case .secondSuite: suites[1]
    case .host: host
    }
  }

  func synchronize() {
    for preferences in [app, host] + suites { preferences.synchronize() }
  }

  /// A domain that nobody here has open is noticed at the latest by this.
  func synchronizeIfNew(_ domain: ModelOperation.Domain) {
    if domain == .global || domain == .host { synchronize() }
  }
}

/// What an observer of all keys is told.
final class ModelChanges: Sendable {
  private struct State {
    /// The values when the observation had begun, of keys of which nothing was told by then.
    var first: [String: PropertyList?] = [:]
    /// The values that were told last.
    var told: [String: PropertyList?] = [:]
    var problem: String?

    func last(_ key: String) -> PropertyList? { told[key] ?? first[key] ?? nil }
  }

  /// How long, in seconds, changes of others may take to be told.
  private static let patience = 60.0

  private let state = ForkSafeLock(State())
  private let observation: ForkSafeLock<PreferenceObservation?> = ForkSafeLock(nil)

  init(_ preferences: Preferences) {
    let observation = preferences.observe { [state] change in
      state.withLock { state in
        if let last = state.told[change.key], change.old != last {
          state.problem = "\(change.key) was told with another old value"
        }
        if change.old == change.new { state.problem = "\(change.key) was told without a change" }
        state.told[change.key] = .some(change.new)
      }
    }
    self.observation.withLock { $0 = observation }
    // Afterwards: what is noticed in the background between a read and the observation is told to nobody. What is told
    // first after a read may be from before it.
    for key in ModelValues.keys {
      let value = preferences.propertyList(forKey: key)
      state.withLock { $0.first[key] = .some(value) }
    }
  }

  /// Throws unless the last value that was told of each key is the expected one, each after the one before.
  ///
  /// Waits for what is told from a background queue.
  func compare(_ expected: (Int) -> PropertyList?) throws {
    let deadline = ContinuousClock.now + .seconds(Self.patience)
    while true {
      let found = state.withLock { $0 }
      if let problem = found.problem { throw ModelRun.Difference(description: problem) }
      let missing = ModelValues.keys.indices.first {
        found.last(ModelValues.keys[$0]) != expected($0)
      }
      guard let missing else { break }
      guard ContinuousClock.now < deadline else {
        throw ModelRun.Difference(
          description: "the last value of \(ModelValues.keys[missing]) was not told")
      }
      sched_yield()
    }
  }
}
