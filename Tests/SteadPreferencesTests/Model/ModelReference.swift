import SteadFormats

/// What preferences are to hold: a plain dictionary for each domain.
struct ModelReference {
  typealias Domain = ModelOperation.Domain

  private(set) var domains: [Domain: [Int: Int]] = [:]
  private(set) var registered: [Int: Int] = [:]
  private(set) var arguments: [Int: Int] = [:]
  private(set) var suites: [Int] = []
  /// What an administrator has fixed for the app, and what all users have for all programs.
  let managed: [Int: Int]
  let allUsers: [Int: Int]

  init(managed: [Int: Int], allUsers: [Int: Int]) {
    (self.managed, self.allUsers) = (managed, allUsers)
  }

  mutating func apply(_ operation: ModelOperation) {
    switch operation {
    case .set(let writer, let key, let value): set(writer.domain, key, value)
    case .removeAll(let writer): domains[writer.domain] = [:]
    case .register(let contents): registered.merge(contents) { $1 }
    case .replaceRegistered(let contents): registered = contents
    case .removeRegistered: registered = [:]
    case .replaceArguments(let contents): arguments = contents
    case .removeArguments: arguments = [:]
    case .addSuite(let suite): if !suites.contains(suite) { suites.append(suite) }
    case .removeSuite(let suite): suites.removeAll { $0 == suite }
    case .replaceDomain(let domain, let contents): domains[domain] = contents
    case .removeDomain(let domain): domains[domain] = [:]
    case .other(let domain, let key, let value): set(domain, key, value)
    case .edit(let domain, let key, let value, _): set(domain, key, value)
    case .editBeside(let writer, let key, let value, let otherKey, let otherValue):
      set(writer.domain, key, value)
      set(writer.domain, otherKey, otherValue)
    case .reopen:
      // Of the process's memory, not of the files.
      (registered, arguments, suites) = ([:], [:], [])
    case .otherCheckpoint, .damage, .synchronize: break
    }
  }

  private mutating func set(_ domain: Domain, _ key: Int, _ value: Int?) {
    domains[domain, default: [:]][key] = value
  }

  /// The value that counts for the app.
  func value(_ key: Int) -> Int? {
    let own: [Domain] = [.host, .app] + suites.map(Self.domain(ofSuite:))
    return first(key, [managed, arguments] + own.map(contents) + common)
  }

  /// The value that counts for the preferences of a suite.
  func value(_ key: Int, ofSuite suite: Int) -> Int? {
    first(key, [arguments, contents(Self.domain(ofSuite: suite))] + common)
  }

  /// What is looked at after a program's own domains.
  private var common: [[Int: Int]] { [contents(.global), allUsers, registered] }

  private func first(_ key: Int, _ layers: [[Int: Int]]) -> Int? {
    layers.lazy.compactMap { $0[key] }.first
  }

  private func contents(_ domain: Domain) -> [Int: Int] { domains[domain] ?? [:] }

  private static func domain(ofSuite suite: Int) -> Domain {
    suite == 0 ? .firstSuite : .secondSuite
  }
}
