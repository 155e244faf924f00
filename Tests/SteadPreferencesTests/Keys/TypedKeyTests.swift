import Foundation
import SteadPreferences
import Synchronization
import Testing

enum Theme: String, Codable, CaseIterable { case system, light, dark }

struct Margins: Codable, Equatable {
  var left = 1.0
  var right = 2.0
}

struct Weekdays: OptionSet, Sendable {
  let rawValue: Int
  static let monday = Weekdays(rawValue: 1)
  static let friday = Weekdays(rawValue: 16)
}

/// A raw type with nothing else to it.
enum Direction: Int { case north, south }

/// Its raw value and its `Codable` form are not alike, so one sees which of them is stored.
enum Priority: Int, Codable {
  case low = 1, high = 9

  private enum CodingKeys: CodingKey { case name }
  init(from decoder: any Decoder) throws {
    let name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
    self = name == "high" ? .high : .low
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode("\(self)", forKey: .name)
  }
}

extension Preferences.Keys {
  var theme: Preferences.Key<Theme> { .init("theme", default: .system) }
  var direction: Preferences.Key<Direction> { .init("direction", default: .south) }
  var count: Preferences.Key<Int> { .init("count", default: 3) }
  var days: Preferences.Key<Weekdays> { .init("days", default: []) }
  var margins: Preferences.Key<Margins> { .init("margins", default: Margins()) }
  var note: Preferences.Key<String?> { .init("note") }
  var lastTheme: Preferences.Key<Theme?> { .init("lastTheme") }
  var lastDirection: Preferences.Key<Direction?> { .init("lastDirection") }
  var lastMargins: Preferences.Key<Margins?> { .init("lastMargins") }
  var tags: Preferences.Key<Set<String>> { .init("tags", default: []) }
  var history: Preferences.Key<[Theme]> { .init("history", default: [.system]) }
  var shortcuts: Preferences.Key<[String: [Int]]> { .init("shortcuts", default: [:]) }
  var hours: Preferences.Key<ClosedRange<Int>> { .init("hours", default: 9...17) }
  var home: Preferences.Key<URL?> { .init("home") }
  var device: Preferences.Key<UUID> { .init("device", default: UUID()) }
}

/// Typed keys, read and written by key path.
struct TypedKeyTests {
  let preferences = Preferences.inMemory()

  @Test func `has the default while nothing is stored`() {
    #expect(preferences[\.theme] == .system)
    #expect(preferences[\.count] == 3)
    #expect(preferences[\.note] == nil)
    #expect(preferences[\.history] == [.system])
    #expect(preferences[\.hours] == 9...17)
    #expect(preferences.storedKeys.isEmpty)
  }

  @Test func `keeps what was set`() throws {
    preferences[\.theme] = .dark
    preferences[\.direction] = .north
    preferences[\.count] = -7
    preferences[\.days] = [.monday, .friday]
    preferences[\.margins].left = 4
    preferences[\.note] = "n"
    preferences[\.lastTheme] = .light
    preferences[\.lastDirection] = .south
    preferences[\.lastMargins] = Margins()
    preferences[\.tags] = ["b", "a"]
    preferences[\.history] = [.dark, .light]
    preferences[\.shortcuts] = ["open": [1, 2]]
    preferences[\.hours] = 8...12
    preferences[\.home] = URL(string: "https://example.com/x")

    #expect(preferences[\.theme] == .dark)
    #expect(preferences[\.direction] == .north)
    #expect(preferences[\.count] == -7)
    #expect(preferences[\.days] == [.monday, .friday])
    #expect(preferences[\.margins] == Margins(left: 4, right: 2))
    #expect(preferences[\.note] == "n")
    #expect(preferences[\.lastTheme] == .light)
    #expect(preferences[\.lastDirection] == .south)
    #expect(preferences[\.lastMargins] == Margins())
    #expect(preferences[\.tags] == ["a", "b"])
    #expect(preferences[\.history] == [.dark, .light])
    #expect(preferences[\.shortcuts] == ["open": [1, 2]])
    #expect(preferences[\.hours] == 8...12)
    #expect(preferences[\.home]?.absoluteString == "https://example.com/x")
  }

  /// A type that is raw and `Codable` both is its raw value; one that is `Codable` alone is a tree.
  @Test func `is stored as tools expect`() {
    preferences[\.theme] = .dark
    preferences[\.lastTheme] = .light
    preferences[\.days] = [.friday]
    preferences[\.margins] = Margins()
    preferences[\.history] = [.light]
    #expect(preferences.propertyList(forKey: "theme") == .string("dark"))
    #expect(preferences.propertyList(forKey: "lastTheme") == .string("light"))
    #expect(preferences.propertyList(forKey: "days") == .integer(16))
    #expect(
      preferences.propertyList(forKey: "margins")
        == ["left": .double(1), "right": .double(2)].asValue)
    #expect(preferences.propertyList(forKey: "history") == .array([.string("light")]))
  }

  @Test func `takes the raw value where there are both`() {
    struct Settings {
      @UserDefault(key: "wrapped") var priority = Priority.low
      @UserDefault(key: "wrappedOptional") var optional: Priority?
    }
    let number = PropertyList.integer(9)
    let plain = Preferences.Key<Priority>("plain", default: .low)
    let optional = Preferences.Key<Priority?>("optional")
    preferences[plain] = .high
    preferences[optional] = .high
    #expect(preferences.propertyList(forKey: "plain") == number)
    #expect(preferences.propertyList(forKey: "optional") == number)
    #expect(preferences[plain] == .high && preferences[optional] == .high)
    UserDefault(wrappedValue: Priority.low, key: "wrapped", store: preferences)
      .wrappedValue = .high
    UserDefault<Priority?>(key: "wrappedOptional", store: preferences).wrappedValue = .high
    #expect(preferences.propertyList(forKey: "wrapped") == number)
    #expect(preferences.propertyList(forKey: "wrappedOptional") == number)

    let migrated = Preferences.Key<String>("plain", default: "")
      .migrating(from: Priority.self) { "\($0)" }
    #expect(preferences[migrated] == "high")
    let renamed = Preferences.Key<String>("new", default: "")
      .renamed(from: "optional", as: Priority.self) { "\($0)" }
    #expect(preferences[renamed] == "high")
  }

  @Test func `nil takes the key out`() {
    preferences[\.note] = "n"
    preferences[\.note] = nil
    #expect(preferences.propertyList(forKey: "note") == nil)
    #expect(!preferences.isSet(\.note))
  }

  @Test func `computes defaults when they are needed`() {
    #expect(preferences[\.device] != preferences[\.device])
    let device = UUID()
    preferences[\.device] = device
    #expect(preferences[\.device] == device)

    let calls = Mutex(0)
    let key = Preferences.Key<Int>(
      "lazy",
      default: calls.withLock {
        $0 += 1; return $0
      })
    #expect(preferences[key] == 1)
    #expect(preferences[key] == 2)
    preferences[key] = 9
    #expect(preferences[key] == 9)
    #expect(calls.withLock { $0 } == 2)
  }

  @Test func `tells what was chosen`() {
    #expect(!preferences.isSet(\.count))
    preferences.register(defaults: ["count": 8])
    #expect(preferences[\.count] == 8)
    #expect(!preferences.isSet(\.count))
    preferences[\.count] = 9
    #expect(preferences.isSet(\.count))
    preferences.reset(\.count)
    #expect(!preferences.isSet(\.count))
    #expect(preferences[\.count] == 8)
  }

  /// What comes from the command line is text.
  @Test func `reads arguments`() {
    let arguments = ["app", "-count", "42", "-theme", "dark", "-verbose", "YES", "-days", "17"]
    let preferences = Preferences.inMemory(environment: .inMemory(arguments: arguments))
    #expect(preferences[\.count] == 42)
    #expect(preferences[\.theme] == .dark)
    #expect(preferences[\.days] == [.monday, .friday])
    #expect(preferences[Preferences.Key<Bool>("verbose", default: false)])
    #expect(preferences.isSet(\.count))
    // The arguments go on to count, and what is set is kept all the same.
    preferences[\.count] = 5
    #expect(preferences[\.count] == 42)
    #expect(preferences.persistentDomain(forName: preferences.domain)?["count"] as? Int == 5)
  }

  @Test func `agrees with the methods of UserDefaults`() {
    preferences.set(11, forKey: "count")
    #expect(preferences[\.count] == 11)
    preferences[\.count] = 12
    #expect(preferences.integer(forKey: "count") == 12)
    preferences[\.note] = "n"
    #expect(preferences.string(forKey: "note") == "n")
    preferences[\.tags] = ["b", "a"]
    #expect(preferences.stringArray(forKey: "tags") == ["a", "b"])
  }

  @Test func `throws where asked`() throws {
    let readOnly = Preferences.inMemory(options: .init(isReadOnly: true))
    let log = ErrorLog(readOnly)
    #expect { try readOnly.set(1, for: \.count) } throws: {
      ($0 as? PreferencesError)?.code == .readOnly
    }
    #expect(log.codes.isEmpty)
    readOnly[\.count] = 1
    #expect(log.codes == [.readOnly])
    #expect(log.keys == ["count"])
    #expect(try readOnly.value(for: \.count) == 3)
  }

  @Test func `refuses what does not encode`() {
    struct Stubborn: Codable {
      struct Refusal: Error {}
      func encode(to encoder: any Encoder) throws { throw Refusal() }
    }
    let key = Preferences.Key<Stubborn>("stubborn", default: Stubborn())
    #expect { try preferences.set(Stubborn(), for: key) } throws: {
      guard let error = $0 as? PreferencesError else { return false }
      return error.code == .notAPropertyList && error.key == "stubborn"
        && error.cause is Stubborn.Refusal
    }
    #expect(!preferences.isSet(key))
  }

  @Test func `is safe from many tasks`() async {
    let preferences = preferences
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for step in 0..<500 {
            preferences[\.count] = step
            preferences[\.margins] = Margins(left: Double(step), right: Double(step))
            let margins = preferences[\.margins]
            #expect(margins.left == margins.right)
            preferences[Preferences.Key<Int>("own\(task)", default: 0)] += 1
          }
        }
      }
    }
    for task in 0..<8 {
      #expect(preferences[Preferences.Key<Int>("own\(task)", default: 0)] == 500)
    }
    #expect(preferences[\.count] == 499)
  }
}
