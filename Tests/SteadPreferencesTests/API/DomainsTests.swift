import Foundation
import Testing
@testable import SteadPreferences

struct DomainsTests {
  @Test func `registering adds to what was registered`() {
    let environment = Preferences.Environment.inMemory()
    let preferences = Preferences.inMemory(environment: environment)
    let other = Preferences.inMemory("other", environment: environment)
    preferences.register(defaults: ["a": 1, "b": 1])
    other.register(defaults: ["b": 2, "c": 2])
    for key in [("a", 1), ("b", 2), ("c", 2)] {
      #expect(preferences.integer(forKey: key.0) == key.1)
      #expect(other.integer(forKey: key.0) == key.1)
    }
    #expect(preferences.keys.isEmpty)
    #expect(preferences.persistentDomain(forName: "memory") == nil)
  }

  @Test func `registering is all or nothing`() {
    let preferences = Preferences.inMemory()
    let errors = ReportedErrors()
    preferences.onError = errors.handler
    preferences.register(defaults: ["a": 1, "b": NSObject()])
    #expect(preferences.object(forKey: "a") == nil)
    #expect(errors.codes == [.notAPropertyList])
    // The message named neither the key nor what became of the other defaults.
    preferences.register(defaults: ["a": ["c": ["d": NSObject()]]])
    for (message, key) in zip(errors.messages, [#""b": "#, #""a": "#]) {
      let beginning = "None of the defaults was registered. \(key)A value of type NSObject"
      #expect(message.hasPrefix(beginning))
    }
    #expect(errors.messages.count == 2)
  }

  @Test func `environments share nothing`() {
    let one = Preferences.inMemory()
    let two = Preferences.inMemory()
    one.register(defaults: ["a": 1])
    one.set(2, forKey: "b")
    one.setVolatileDomain(["c": 3], forName: Preferences.argumentDomain)
    #expect(one.integer(forKey: "c") == 3)
    for key in ["a", "b", "c"] { #expect(two.object(forKey: key) == nil) }
  }

  @Test func `a volatile domain is replaced and not looked at`() {
    let preferences = Preferences.inMemory()
    preferences.setVolatileDomain(["a": 1, "b": 1], forName: "mine")
    preferences.setVolatileDomain(["b": 2], forName: "mine")
    #expect(preferences.volatileDomain(forName: "mine") as? [String: Int] == ["b": 2])
    #expect(preferences.object(forKey: "b") == nil)
    #expect(
      Set(preferences.volatileDomainNames) == [
        Preferences.argumentDomain, Preferences.registrationDomain, "mine",
      ])
    preferences.removeVolatileDomain(forName: "mine")
    #expect(!preferences.volatileDomainNames.contains("mine"))
    #expect(preferences.volatileDomain(forName: "mine").isEmpty)
  }

  @Test func `replacing the registered defaults takes the others away`() {
    let preferences = Preferences.inMemory()
    preferences.register(defaults: ["a": 1, "b": 1])
    preferences.setVolatileDomain(["b": 2], forName: Preferences.registrationDomain)
    #expect(preferences.object(forKey: "a") == nil)
    #expect(preferences.integer(forKey: "b") == 2)
  }

  @Test func `a persistent domain is replaced as a whole`() throws {
    let home = try TestHome()
    let app = try Preferences(environment: home.environment())
    app.set(1, forKey: "old")
    app.setPersistentDomain(["new": [1, 2], "date": Date.distantPast], forName: "com.example.app")
    #expect(app.keys == ["date", "new"])
    app.setPersistentDomain(["k": "v"], forName: "com.example.other")
    #expect(app.object(forKey: "k") == nil)
    #expect(app.persistentDomain(forName: "com.example.other") as? [String: String] == ["k": "v"])
    let other = try Preferences(environment: home.environment(appID: "com.example.other"))
    #expect(other.string(forKey: "k") == "v")
    app.removePersistentDomain(forName: "com.example.other")
    #expect(other.object(forKey: "k") == nil)
    #expect(app.persistentDomain(forName: "com.example.other") == nil)
    #expect(app.persistentDomain(forName: "never heard of") == nil)
  }

  @Test func `the host's domain is not the persistent one`() {
    let preferences = Preferences.inMemory()
    preferences.scopedToCurrentHost().set(1, forKey: "h")
    preferences.set(2, forKey: "a")
    #expect(
      preferences.scopedToCurrentHost().persistentDomain(forName: "memory")?.keys.first == "a")
    #expect(preferences.scopedToCurrentHost().keys == ["h"])
    #expect(preferences.integer(forKey: "h") == 1)
    #expect(preferences.scopedToCurrentHost().integer(forKey: "a") == 2)
  }

  @Test func `all domains together are what each key gives`() {
    let environment = Preferences.Environment.inMemory(arguments: ["app", "-b", "argument"])
    let preferences = Preferences.inMemory(environment: environment)
    preferences.register(defaults: ["a": 1, "b": 1, "c": 1])
    preferences.set(2, forKey: "a")
    preferences.set(2, forKey: "b")
    preferences.setPersistentDomain(["a": 3, "d": 3], forName: Preferences.globalDomain)
    let all = preferences.dictionaryRepresentation()
    #expect(Set(all.keys) == ["a", "b", "c", "d"])
    for (key, value) in all { #expect("\(value)" == preferences.string(forKey: key)) }
  }

  @Test func `suites that are refused are reported`() {
    let preferences = Preferences.inMemory()
    let errors = ReportedErrors()
    preferences.onError = errors.handler
    for name in ["../x", Preferences.globalDomain, "memory", ""] {
      preferences.addSuite(named: name)
      preferences.setPersistentDomain([:], forName: name == "memory" ? "a/b" : "\(name)/")
    }
    #expect(errors.codes == Array(repeating: .invalidDomainName, count: 8))
  }
}

/// A name of a suite becomes the name of a file: `../x` once led out of the directory.
struct NamesTests {
  static let refused = [
    "", ".", "..", "../x", "a/b", "/etc/passwd", "a\0b", "a..b", ".hidden", "a\nb", "a\\b",
    String(repeating: "a", count: 181), String(repeating: "é", count: 91), "\u{7F}",
  ]

  @Test(arguments: refused)
  func `names that lead elsewhere are refused`(name: String) throws {
    let home = try TestHome()
    let environment = home.environment()
    #expect(Preferences(suiteName: name, environment: environment) == nil)
    #expect(throws: PreferencesError.self) {
      try Preferences(domain: name, environment: environment)
    }
    #expect(throws: PreferencesError.self) {
      try Preferences(domain: name, directory: home.directory.file("x"), environment: environment)
    }
    let app = Preferences.inMemory()
    app.onError = { _ in }
    app.setPersistentDomain(["k": 1], forName: name)
    #expect(app.lastError?.code == .invalidDomainName)
    #expect(try home.directory.names == [])
  }

  @Test(arguments: ["a", "com.example.suite", "group.com.example", "Ünï cödé 🙂", "a-b_c", "x.y.z"])
  func `plain names are taken`(name: String) throws {
    let home = try TestHome()
    let suite = try #require(Preferences(suiteName: name, environment: home.environment()))
    suite.set(1, forKey: "k")
    #expect(suite.synchronize())
    let file = home.config.appending(path: "\(name)/\(name).plist")
    #expect(FileManager.default.fileExists(atPath: file.filePath))
  }

  @Test func `the app and the global domain are no suites`() throws {
    let environment = Preferences.Environment.inMemory(appID: "com.example.app")
    #expect(Preferences(suiteName: "com.example.app", environment: environment) == nil)
    #expect(Preferences(suiteName: Preferences.globalDomain, environment: environment) == nil)
    let own = try #require(Preferences(suiteName: nil, environment: environment))
    #expect(own.domain == "com.example.app")
  }

  @Test func `the process's identifier is a name`() throws {
    let id = Preferences.Environment(variables: [:]).appID
    #expect(throws: Never.self) { try DomainName.check(id) }
  }
}
