import Foundation
import SteadPreferences
import Testing

/// Keys whose values had another name or another type before.
struct KeyHistoryTests {
  let preferences = Preferences.inMemory()
  let renamed = Preferences.Key<Int>("new", default: 0)
    .renamed(from: "older").renamed(from: "oldest")

  struct Refusal: Error {}

  @Test func `moves an old name at the first read`() {
    preferences.set(5, forKey: "older")
    #expect(preferences[renamed] == 5)
    #expect(preferences.propertyList(forKey: "new") == .integer(5))
    #expect(preferences.propertyList(forKey: "older") == nil)
    #expect(preferences[renamed] == 5)
  }

  @Test func `takes the newest of several names`() {
    preferences.set(1, forKey: "oldest")
    preferences.set(2, forKey: "older")
    #expect(preferences[renamed] == 2)
    preferences.set(3, forKey: "new")
    #expect(preferences[renamed] == 3)
    #expect(preferences.propertyList(forKey: "oldest") == .integer(1))
  }

  @Test func `moves an old name at the first write`() {
    preferences.set(5, forKey: "oldest")
    preferences[renamed] = 6
    #expect(preferences.propertyList(forKey: "new") == .integer(6))
    #expect(preferences.propertyList(forKey: "oldest") == nil)
  }

  @Test func `a write keeps an old value that does not decode`() {
    preferences.set("five", forKey: "older")
    preferences[renamed] = 6
    #expect(preferences[renamed] == 6)
    #expect(preferences.undecodableKeys(for: "new") == ["new.undecodable"])
    #expect(preferences.string(forKey: "new.undecodable") == "five")
    #expect(preferences.propertyList(forKey: "older") == nil)
  }

  /// A registered default for the new name must not hide what the user chose under the old one.
  @Test func `an old name counts before registered defaults`() {
    preferences.register(defaults: ["new": 7])
    preferences.set(5, forKey: "older")
    #expect(preferences[renamed] == 5)
    #expect(preferences.isSet(renamed))
  }

  @Test func `reads old names of other domains where they are`() {
    let arguments = ["app", "-older", "8"]
    let preferences = Preferences.inMemory(environment: .inMemory(arguments: arguments))
    #expect(preferences[renamed] == 8)
    #expect(preferences.isSet(renamed))
    #expect(preferences.persistentDomain(forName: preferences.domain)?.isEmpty ?? true)
  }

  @Test func `reset takes old names out as well`() {
    preferences.set(5, forKey: "older")
    preferences.set(4, forKey: "oldest")
    #expect(preferences.isSet(renamed))
    preferences.reset(renamed)
    #expect(preferences[renamed] == 0)
    #expect(preferences.storedKeys.isEmpty)
  }

  @Test func `reads an old name where nothing can be written`() throws {
    let environment = Preferences.Environment.inMemory()
    Preferences.inMemory(environment: environment).set(5, forKey: "older")
    let readOnly = Preferences.inMemory(
      options: .init(isReadOnly: true), environment: environment)
    let log = ErrorLog(readOnly)
    #expect(readOnly[renamed] == 5)
    #expect(readOnly.propertyList(forKey: "older") == .integer(5))
    #expect(log.codes.isEmpty)
  }

  // MARK: Types

  let migrated = Preferences.Key<Theme>("theme", default: .system)
    .migrating(from: Bool.self) { $0 ? .dark : .light }
    .migrating(from: Int.self) { number in
      guard Theme.allCases.indices.contains(number) else { throw Refusal() }
      return Theme.allCases[number]
    }

  @Test func `converts an old type at the first read`() {
    preferences.set(true, forKey: "theme")
    #expect(preferences[migrated] == .dark)
    #expect(preferences.propertyList(forKey: "theme") == .string("dark"))
    preferences.set(1, forKey: "theme")
    #expect(preferences[migrated] == .light)
    #expect(preferences.propertyList(forKey: "theme") == .string("light"))
  }

  @Test func `leaves the new type alone`() {
    preferences.set("light", forKey: "theme")
    #expect(preferences[migrated] == .light)
    #expect(preferences.propertyList(forKey: "theme") == .string("light"))
  }

  @Test func `keeps what does not convert`() {
    let log = ErrorLog(preferences)
    preferences.set(99, forKey: "theme")
    #expect(preferences[migrated] == .system)
    #expect(preferences.propertyList(forKey: "theme") == .integer(99))
    #expect(log.codes == [.doesNotDecode])
    #expect(throws: PreferencesError.self) { try preferences.value(for: migrated) }
    preferences[migrated] = .dark
    #expect(preferences.propertyList(forKey: "theme.undecodable") == .integer(99))
    #expect(preferences[migrated] == .dark)
  }

  /// A number reads as text, and must be converted all the same.
  @Test func `converts what the new type would read`() {
    let key = Preferences.Key<String>("size", default: "")
      .migrating(from: Int.self) { "\($0) points" }
    preferences.set(12, forKey: "size")
    #expect(preferences[key] == "12 points")
    #expect(preferences[key] == "12 points")
  }

  struct OldMargins: Codable { var both: Double }

  @Test func `converts trees that the new type would read`() {
    struct NewMargins: Codable, Equatable { var left: Double?, right: Double? }
    let old = Preferences.Key<OldMargins>("margins", default: OldMargins(both: 0))
    let new = Preferences.Key<NewMargins>("margins", default: NewMargins())
      .migrating(from: OldMargins.self) { NewMargins(left: $0.both, right: $0.both) }
    preferences[old] = OldMargins(both: 3)
    #expect(preferences[new] == NewMargins(left: 3, right: 3))
    #expect(preferences[new] == NewMargins(left: 3, right: 3))
  }

  @Test func `converts an argument of an old type`() {
    let preferences = Preferences.inMemory(
      environment: .inMemory(arguments: ["app", "-theme", "1"]))
    let key = Preferences.Key<Theme>("theme", default: .system)
      .migrating(from: Int.self) { Theme.allCases[$0] }
    #expect(preferences[key] == .light)
    #expect(preferences.persistentDomain(forName: preferences.domain)?.isEmpty ?? true)
  }

  @Test func `converts under a new name`() {
    let key = Preferences.Key<Double>("seconds", default: 30)
      .renamed(from: "milliseconds", as: Int.self) { Double($0) / 1_000 }
    preferences.set(1_500, forKey: "milliseconds")
    #expect(preferences[key] == 1.5)
    #expect(preferences.propertyList(forKey: "seconds") == .double(1.5))
    #expect(preferences.propertyList(forKey: "milliseconds") == nil)
    #expect(preferences[key] == 1.5)
  }

  @Test func `leaves what does not convert under its old name`() {
    let key = Preferences.Key<Theme?>("theme")
      .renamed(from: "colours", as: Direction.self) { _ in throw Refusal() }
    let log = ErrorLog(preferences)
    preferences.set(1, forKey: "colours")
    #expect(preferences[key] == nil)
    #expect(log.codes == [.doesNotDecode])
    preferences[key] = .light
    #expect(preferences[key] == .light)
    #expect(preferences.propertyList(forKey: "colours") == .integer(1))
  }

  @Test func `takes old types of all forms`() {
    let key = Preferences.Key<String>("form", default: "none")
      .migrating(from: Direction.self) { "direction \($0.rawValue)" }
      .migrating(from: OldMargins.self) { "margins \($0.both)" }
      .migrating(from: [Theme].self) { "themes \($0.count)" }
      .renamed(from: "oldTheme", as: Theme.self) { "theme \($0)" }
      .renamed(from: "oldMargins", as: OldMargins.self) { "old margins \($0.both)" }
    preferences.set(1, forKey: "form")
    #expect(preferences[key] == "direction 1")
    preferences.set(["both": 2.5], forKey: "form")
    #expect(preferences[key] == "margins 2.5")
    preferences.set(["dark", "light"], forKey: "form")
    #expect(preferences[key] == "themes 2")
    preferences.removeObject(forKey: "form")
    preferences.set(["both": 1.5], forKey: "oldMargins")
    #expect(preferences[key] == "old margins 1.5")
    preferences.removeObject(forKey: "form")
    preferences.set("dark", forKey: "oldTheme")
    #expect(preferences[key] == "theme dark")
  }

  @Test func `moves once, however many read`() async {
    preferences.set(5, forKey: "older")
    let (preferences, renamed) = (preferences, renamed)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<200 { #expect(preferences[renamed] == 5) }
        }
      }
    }
    #expect(preferences.storedKeys == ["new"])
  }
}
