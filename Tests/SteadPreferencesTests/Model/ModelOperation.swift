import Foundation
import SteadFormats

/// One call of a random sequence. Keys and values are numbers of ``ModelValues``.
enum ModelOperation {
  /// One of the domains that have files.
  enum Domain: Int, CaseIterable {
    case app, firstSuite, secondSuite, global, host
  }

  /// Preferences of this process that write to a domain of their own.
  enum Writer: Int, CaseIterable {
    case app, firstSuite, secondSuite, host

    var domain: Domain {
      switch self {
      case .app: .app
      case .firstSuite: .firstSuite
      case .secondSuite: .secondSuite
      case .host: .host
      }
    }
  }

  typealias Contents = [Int: Int]

  /// A value is set; nil removes the key.
  case set(Writer, key: Int, value: Int?)
  case removeAll(Writer)
  case register(Contents)
  case replaceRegistered(Contents)
  case removeRegistered
  case replaceArguments(Contents)
  case removeArguments
  case addSuite(Int)
  case removeSuite(Int)
  /// `setPersistentDomain(_:forName:)`; of the app's own preferences.
  case replaceDomain(Domain, Contents)
  case removeDomain(Domain)
  /// A process comes, sets a value, and ends without a word.
  case other(Domain, key: Int, value: Int?)
  /// A process comes, and writes the checkpoint.
  case otherCheckpoint(Domain)
  /// Somebody edits the property list, by renaming a new file or by writing into the old one.
  case edit(Domain, key: Int, value: Int?, byRenaming: Bool)
  /// The same, and before it is noticed another key is set.
  case editBeside(Writer, key: Int, value: Int?, otherKey: Int, otherValue: Int?)
  /// A disk turns a bit of the property list.
  case damage(Domain, bit: Int)
  case synchronize
  /// All of this process's objects go, and come again.
  case reopen

  static func random(using random: inout SplitMix) -> ModelOperation {
    func key() -> Int { Int.random(in: 0..<ModelValues.keys.count, using: &random) }
    func value() -> Int? {
      switch Int.random(in: 0..<40, using: &random) {
      case 0..<10: return nil
      case 10..<38: return Int.random(in: 0..<ModelValues.smallCount, using: &random)
      default:
        return Int.random(in: ModelValues.smallCount..<ModelValues.all.count, using: &random)
      }
    }
    func contents() -> Contents {
      var contents: Contents = [:]
      for _ in 0..<Int.random(in: 0...3, using: &random) { contents[key()] = value() ?? 0 }
      return contents
    }
    func writer() -> Writer { Writer.allCases.randomElement(using: &random) ?? .app }
    func domain() -> Domain { Domain.allCases.randomElement(using: &random) ?? .app }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<34: return .set(writer(), key: key(), value: value())
    case 34..<36: return .removeAll(writer())
    case 36..<40: return .register(contents())
    case 40..<41: return .replaceRegistered(contents())
    case 41..<42: return .removeRegistered
    case 42..<46: return .replaceArguments(contents())
    case 46..<47: return .removeArguments
    case 47..<52: return .addSuite(Int.random(in: 0...1, using: &random))
    case 52..<55: return .removeSuite(Int.random(in: 0...1, using: &random))
    case 55..<60: return .replaceDomain(domain(), contents())
    case 60..<62: return .removeDomain(domain())
    case 62..<74: return .other(domain(), key: key(), value: value())
    case 74..<77: return .otherCheckpoint(domain())
    case 77..<83:
      return .edit(domain(), key: key(), value: value(), byRenaming: Bool.random(using: &random))
    case 83..<88:
      let (first, second) = (key(), key())
      return .editBeside(
        writer(), key: first, value: value(),
        otherKey: second == first ? (first + 1) % ModelValues.keys.count : second,
        otherValue: value())
    case 88..<91: return .damage(domain(), bit: Int.random(in: 0..<100_000, using: &random))
    case 91..<96: return .synchronize
    default: return .reopen
    }
  }
}

/// The few keys and values that sequences are made of, so that they meet.
enum ModelValues {
  static let keys = ["a", "b", "key with blanks", "ü", "long " + String(repeating: "k", count: 60)]

  /// How many values are small.
  static let smallCount = 8

  /// The last two are so large that a few of them make a domain be compacted.
  static let all: [PropertyList] = [
    .integer(1), .integer(-2), .string("text"), .bool(true), .double(0.5), .float(0.25),
    .array([.string("a"), .integer(1)]), .dictionary(["k": .data(Data([1, 2, 3]))]),
    .data(Data(repeating: 7, count: 60_000)), .string(String(repeating: "x", count: 70_000)),
  ]
}

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
