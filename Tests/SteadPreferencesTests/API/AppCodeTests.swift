import Foundation
import SteadPreferences
import Testing

// The line that apps add. All below it is as apps are written for Apple's class.
private typealias UserDefaults = Preferences

/// Code of the kinds that apps have, compiled as it is; each test also looks at what it did.
struct AppCodeTests {
  private let defaults = UserDefaults.inMemory()

  @Test func `scalars go in and out`() {
    defaults.set("dark", forKey: "theme")
    defaults.set(true, forKey: "notificationsEnabled")
    defaults.set(42, forKey: "launchCount")
    defaults.set(0.25, forKey: "volume")
    defaults.set(Float(1.5), forKey: "scale")
    let theme = defaults.string(forKey: "theme") ?? "system"
    let isEnabled = defaults.bool(forKey: "notificationsEnabled")
    let count = defaults.integer(forKey: "launchCount")
    #expect(theme == "dark")
    #expect(isEnabled)
    #expect(count == 42)
    #expect(defaults.double(forKey: "volume") == 0.25)
    #expect(defaults.float(forKey: "scale") == 1.5)
    #expect(defaults.string(forKey: "missing") ?? "system" == "system")
  }

  @Test func `constants and enum cases are keys`() {
    enum Constants {
      static let onboarding = "onboarding.complete"
    }
    enum Key: String {
      case lastSync, recent
    }
    let moment = Date(timeIntervalSinceReferenceDate: 700_000_000.125)
    defaults.set(true, forKey: Constants.onboarding)
    defaults.set(moment, forKey: Key.lastSync.rawValue)
    defaults.set(["a", "b"], forKey: Key.recent.rawValue)
    #expect(defaults.bool(forKey: Constants.onboarding))
    #expect(defaults.object(forKey: Key.lastSync.rawValue) as? Date == moment)
    #expect(defaults.stringArray(forKey: "recent") == ["a", "b"])
    defaults.removeObject(forKey: Key.recent.rawValue)
    #expect(defaults.object(forKey: Key.recent.rawValue) == nil)
  }

  @Test func `objects are cast`() {
    defaults.set(5, forKey: "number")
    defaults.set(1, forKey: "flag")
    #expect(defaults.object(forKey: "number") as? Int == 5)
    #expect(defaults.object(forKey: "number") as? Double == 5)
    #expect(defaults.object(forKey: "flag") as? Bool == true)
    #expect(defaults.value(forKey: "number") as? NSNumber == 5)
    if defaults.object(forKey: "never set") != nil { Issue.record("A key that nobody set.") }
  }

  @Test func `collections keep their elements`() {
    let sizes = [1, 2, 3]
    let scores: [String: Int] = ["ann": 3, "ben": 7]
    let nested: [String: Any] = ["name": "x", "tags": ["a", "b"], "size": ["w": 1.5, "h": 2.5]]
    defaults.set(sizes, forKey: "sizes")
    defaults.set(scores, forKey: "scores")
    defaults.set(nested, forKey: "nested")
    defaults.set([nested, nested], forKey: "list")
    #expect(defaults.array(forKey: "sizes") as? [Int] == sizes)
    #expect(defaults.dictionary(forKey: "scores") as? [String: Int] == scores)
    #expect(defaults.dictionary(forKey: "nested")?["tags"] as? [String] == ["a", "b"])
    let size = defaults.dictionary(forKey: "nested")?["size"] as? [String: Double]
    #expect(size == ["w": 1.5, "h": 2.5])
    #expect((defaults.array(forKey: "list") as? [[String: Any]])?.count == 2)
    #expect(defaults.array(forKey: "sizes")?.first is Int)
  }

  @Test func `Codable values go through data`() throws {
    struct Profile: Codable, Equatable {
      var name: String
      var level: Int
    }
    let profile = Profile(name: "ann", level: 3)
    if let encoded = try? JSONEncoder().encode(profile) {
      defaults.set(encoded, forKey: "profile")
    }
    guard let data = defaults.data(forKey: "profile") else {
      Issue.record("No data.")
      return
    }
    #expect(try JSONDecoder().decode(Profile.self, from: data) == profile)
  }

  @Test func `nil removes`() {
    let missing: String? = nil
    let address: URL? = nil
    defaults.set("x", forKey: "a")
    defaults.set("x", forKey: "b")
    defaults.set("x", forKey: "c")
    defaults.set("x", forKey: "d")
    defaults.set(missing, forKey: "a")
    defaults.set(nil, forKey: "b")
    defaults.set(address, forKey: "c")
    defaults.setValue(nil, forKey: "d")
    for key in ["a", "b", "c", "d"] { #expect(defaults.object(forKey: key) == nil) }
  }

  @Test func `optionals are what they hold`() {
    let name: String? = "ann"
    let count: Int? = 3
    defaults.set(name, forKey: "name")
    defaults.setValue(count, forKey: "count")
    #expect(defaults.string(forKey: "name") == "ann")
    #expect(defaults.integer(forKey: "count") == 3)
  }

  @Test func `first launch is told by a registered default`() {
    defaults.register(defaults: ["isFirstLaunch": true, "pageSize": 20])
    #expect(defaults.bool(forKey: "isFirstLaunch"))
    defaults.set(false, forKey: "isFirstLaunch")
    #expect(!defaults.bool(forKey: "isFirstLaunch"))
    #expect(defaults.integer(forKey: "pageSize") == 20)
    defaults.removeObject(forKey: "isFirstLaunch")
    #expect(defaults.bool(forKey: "isFirstLaunch"))
  }

  @Test func `lists grow`() {
    var recent = defaults.stringArray(forKey: "recent") ?? []
    recent.append("one")
    defaults.set(recent, forKey: "recent")
    defaults.set((defaults.array(forKey: "recent") as? [String] ?? []) + ["two"], forKey: "recent")
    #expect(defaults.stringArray(forKey: "recent") == ["one", "two"])
    defaults.set(defaults.integer(forKey: "count") + 1, forKey: "count")
    #expect(defaults.integer(forKey: "count") == 1)
  }

  @Test func `computed properties stand for keys`() {
    let settings = AppSettings(defaults: defaults)
    #expect(settings.accent == .blue)
    settings.accent = .green
    settings.homepage = URL(string: "https://example.com/a?b=c#d")
    #expect(AppSettings(defaults: defaults).accent == .green)
    #expect(settings.homepage?.absoluteString == "https://example.com/a?b=c#d")
  }

  @Test func `everything can be cleared`() {
    defaults.set(1, forKey: "a")
    defaults.set(2, forKey: "b")
    for key in defaults.dictionaryRepresentation().keys { defaults.removeObject(forKey: key) }
    #expect(defaults.dictionaryRepresentation().isEmpty)
    defaults.set(3, forKey: "c")
    defaults.removePersistentDomain(forName: "memory")
    #expect(defaults.object(forKey: "c") == nil)
    defaults.synchronize()
    _ = defaults.synchronize()
  }

  @Test func `the names are there`() {
    #expect(UserDefaults.globalDomain == "NSGlobalDomain")
    #expect(UserDefaults.argumentDomain == "NSArgumentDomain")
    #expect(UserDefaults.registrationDomain == "NSRegistrationDomain")
    #expect(UserDefaults.didChangeNotification == Foundation.UserDefaults.didChangeNotification)
    #expect(UserDefaults(suiteName: UserDefaults.globalDomain) == nil)
  }

  /// Compiled and not called: a test leaves the user's files alone.
  func theSharedObjectIsThere() {
    let standard: UserDefaults = .standard
    let suite = UserDefaults(suiteName: "group.com.example") ?? .standard
    let own = UserDefaults()
    for defaults in [standard, suite, own] { defaults.synchronize() }
    UserDefaults.resetStandardUserDefaults()
  }

  @Test func `wrappers of apps work`() {
    var storage = Storage()
    #expect(storage.isFirstLaunch == nil)
    storage.isFirstLaunch = true
    #expect(storage.isFirstLaunch == true)
    #expect(Storage.defaults.bool(forKey: storage.$isFirstLaunch.key.rawValue))
    storage.isFirstLaunch = nil
    #expect(Storage.defaults.object(forKey: "isFirstLaunch") == nil)
  }
}

private final class AppSettings {
  enum Accent: String {
    case blue, green
  }

  private let defaults: UserDefaults

  init(defaults: UserDefaults = .standard) { self.defaults = defaults }

  var accent: Accent {
    get { Accent(rawValue: defaults.string(forKey: #function) ?? "") ?? .blue }
    set { defaults.set(newValue.rawValue, forKey: #function) }
  }

  var homepage: URL? {
    get { defaults.url(forKey: "homepage") }
    set { defaults.set(newValue, forKey: "homepage") }
  }
}

private struct SettingKey: RawRepresentable, ExpressibleByStringLiteral {
  let rawValue: String
  init(rawValue: String) { self.rawValue = rawValue }
  init(stringLiteral value: String) { rawValue = value }
}

extension SettingKey {
  static let isFirstLaunch: SettingKey = "isFirstLaunch"
}

@propertyWrapper
private struct Stored<Value> {
  let key: SettingKey
  var wrappedValue: Value? {
    get { Storage.defaults.value(forKey: key.rawValue) as? Value }
    set { Storage.defaults.set(newValue, forKey: key.rawValue) }
  }
  var projectedValue: Stored<Value> { self }
}

private struct Storage {
  static let defaults = UserDefaults.inMemory()
  @Stored(key: .isFirstLaunch) var isFirstLaunch: Bool?
}
