import Foundation
import SteadFormats
import Testing
@testable import SteadPreferences

/// A key that every domain has: the first in Apple's order counts, and when it goes, the next.
struct SearchOrderTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  @Test func `domains count in Apple's order`() throws {
    let global = Preferences.globalDomain
    let managedApp = home.managed.appending(path: "com.example.app.plist")
    let managedGlobal = home.managed.appending(path: "\(global).plist")
    let allUsersApp = home.allUsers.appending(path: "com.example.app/com.example.app.plist")
    let allUsersGlobal = home.allUsers.appending(path: "\(global)/\(global).plist")
    try home.write(["k": .string("managed app")], to: managedApp)
    try home.write(["k": .string("managed global")], to: managedGlobal)
    try home.write(["k": .string("all users app")], to: allUsersApp)
    try home.write(["k": .string("all users global")], to: allUsersGlobal)
    let environment = home.environment(arguments: ["app", "-k", "argument"])
    let app = try Preferences(environment: environment)
    let first = try #require(Preferences(suiteName: "first", environment: environment))
    let second = try #require(Preferences(suiteName: "second", environment: environment))
    let everywhere = try Preferences(domain: global, environment: environment)
    let named = [
      ("app", app), ("first suite", first), ("second suite", second), ("global", everywhere),
    ]
    for (name, preferences) in named {
      preferences.set("\(name), any host", forKey: "k")
      preferences.scopedToCurrentHost().set("\(name), this host", forKey: "k")
    }
    app.addSuite(named: "first")
    app.addSuite(named: "second")
    app.register(defaults: ["k": "registered"])

    var order: [String] = []
    func takeAway(_ remove: () throws -> Void) throws {
      order.append(try #require(app.string(forKey: "k")))
      try remove()
    }
    try takeAway {
      try home.removeFile(managedApp); app.synchronize()
    }
    try takeAway {
      try home.removeFile(managedGlobal); app.synchronize()
    }
    try takeAway { app.removeVolatileDomain(forName: Preferences.argumentDomain) }
    for (_, preferences) in named {
      try takeAway { preferences.scopedToCurrentHost().removeObject(forKey: "k") }
      try takeAway { preferences.removeObject(forKey: "k") }
    }
    try takeAway {
      try home.removeFile(allUsersApp); app.synchronize()
    }
    try takeAway {
      try home.removeFile(allUsersGlobal); app.synchronize()
    }
    try takeAway { app.removeVolatileDomain(forName: Preferences.registrationDomain) }
    #expect(
      order == [
        "managed app", "managed global", "argument", "app, this host", "app, any host",
        "first suite, this host", "first suite, any host", "second suite, this host",
        "second suite, any host", "global, this host", "global, any host", "all users app",
        "all users global", "registered",
      ])
    #expect(app.object(forKey: "k") == nil)
  }

  @Test func `set writes the app's domain for any host`() throws {
    let environment = home.environment()
    let app = try Preferences(environment: environment)
    app.addSuite(named: "suite")
    app.set(1, forKey: "k")
    app.scopedToCurrentHost().set(2, forKey: "h")
    #expect(app.synchronize())
    #expect(app.scopedToCurrentHost().synchronize())
    let path = "com.example.app/com.example.app.plist"
    let any = try Data(contentsOf: home.config.appending(path: path))
    #expect(try BinaryPropertyList.decode(any) == .dictionary(["k": .integer(1)]))
    let hostPath = "com.example.app/ByHost/com.example.app.host1.plist"
    let host = try Data(contentsOf: home.config.appending(path: hostPath))
    #expect(try BinaryPropertyList.decode(host) == .dictionary(["h": .integer(2)]))
    #expect(app.persistentDomain(forName: "suite") == nil)
  }

  @Test func `a suite does not see the app's domain and is seen by others`() throws {
    let environment = home.environment()
    let app = try Preferences(environment: environment)
    let suite = try #require(Preferences(suiteName: "suite", environment: environment))
    app.set(1, forKey: "k")
    suite.set(2, forKey: "s")
    #expect(suite.object(forKey: "k") == nil)
    #expect(app.object(forKey: "s") == nil)
    app.addSuite(named: "suite")
    #expect(app.integer(forKey: "s") == 2)
    let other = home.environment(appID: "com.example.other")
    let same = try #require(Preferences(suiteName: "suite", environment: other))
    #expect(same.integer(forKey: "s") == 2)
    app.removeSuite(named: "suite")
    #expect(app.object(forKey: "s") == nil)
  }

  @Test func `looking up makes no domains`() throws {
    let app = try Preferences(environment: home.environment())
    #expect(app.object(forKey: "k") == nil)
    #expect(app.persistentDomain(forName: "unknown") == nil)
    app.removePersistentDomain(forName: "unknown")
    let made = try FileManager.default.contentsOfDirectory(atPath: home.config.filePath)
    #expect(made == ["com.example.app"])
  }

  @Test func `an administrator's value cannot be changed`() throws {
    let file = home.managed.appending(path: "com.example.app.plist")
    try home.write(["fixed": .bool(true)], to: file)
    let app = try Preferences(environment: home.environment())
    app.set(false, forKey: "fixed")
    app.set(false, forKey: "free")
    #expect(app.bool(forKey: "fixed"))
    #expect(app.objectIsForced(forKey: "fixed"))
    #expect(app.objectIsForced(forKey: "fixed", inDomain: "com.example.app"))
    #expect(!app.objectIsForced(forKey: "free"))
    #expect(!app.objectIsForced(forKey: "fixed", inDomain: "com.example.other"))
    #expect(app.dictionaryRepresentation()["fixed"] as? Bool == true)
  }

  @Test func `another object's suite or domain is seen at once`() throws {
    let environment = home.environment()
    let app = try Preferences(environment: environment)
    let other = try Preferences(environment: environment)
    #expect(app.object(forKey: "g") == nil)
    other.setPersistentDomain(["g": 1], forName: Preferences.globalDomain)
    #expect(app.integer(forKey: "g") == 1)
    other.scopedToCurrentHost().set(2, forKey: "g")
    #expect(app.integer(forKey: "g") == 2)
    other.setVolatileDomain(["g": 3], forName: Preferences.argumentDomain)
    #expect(app.integer(forKey: "g") == 3)
  }

  @Test func `a property list of others that is damaged is left alone`() throws {
    let file = home.managed.appending(path: "com.example.app.plist")
    try home.write(["fixed": .integer(1)], to: file)
    let app = try Preferences(environment: home.environment())
    let errors = ReportedErrors()
    app.onError = errors.handler
    let damaged = Data("bplist00 and no more".utf8)
    try home.write(damaged, to: file)
    #expect(!app.synchronize())
    #expect(errors.codes == [.damaged])
    #expect(app.lastError?.code == .damaged)
    #expect(app.integer(forKey: "fixed") == 1)
    #expect(try Data(contentsOf: file) == damaged)
    try home.write(["fixed": .integer(2)], to: file)
    #expect(app.synchronize())
    #expect(app.integer(forKey: "fixed") == 2)
  }
}

/// Readers take no lock, so lists must not go while they are being read.
struct ConcurrentSearchTests {
  @Test func `readers see one list or the other`() async throws {
    let environment = Preferences.Environment.inMemory()
    let app = Preferences.inMemory("app", environment: environment)
    let suites = (0..<4).map { "suite \($0)" }
    for name in suites {
      let suite = try #require(Preferences(suiteName: name, environment: environment))
      suite.set(name, forKey: "k")
    }
    app.register(defaults: ["k": "registered"])
    let allowed = Set(suites + ["registered"])
    let seen = await withTaskGroup(of: Set<String?>.self) { group in
      for name in suites {
        group.addTask {
          for _ in 0..<200 {
            app.addSuite(named: name)
            app.removeSuite(named: name)
          }
          return []
        }
      }
      for _ in 0..<2 {
        group.addTask {
          Set((0..<20_000).map { _ in app.string(forKey: "k") })
        }
      }
      return await group.reduce(into: Set()) { $0.formUnion($1) }
    }
    #expect(seen.isSubset(of: allowed))
    #expect(app.string(forKey: "k") == "registered")
  }

  @Test func `lists that come back are used again`() {
    let environment = Preferences.Environment.inMemory()
    let app = Preferences.inMemory("app", environment: environment)
    let first = app.search.list
    for _ in 0..<100 {
      app.addSuite(named: "suite")
      #expect(app.search.list !== first)
      app.removeSuite(named: "suite")
      #expect(app.search.list === first)
    }
  }
}
