import Foundation
import Testing

@testable import SteadPreferences

/// What changes the value that counts, and is no `set`.
struct SearchListObservationTests {
  let log = Log<Change>()

  private func observe(
    _ preferences: Preferences, _ keys: [String], _ body: (Preferences) throws -> Void
  ) rethrows {
    let observation = preferences.observe(keys) { [log] in log.add($0) }
    try body(preferences)
    observation.cancel()
  }

  @Test func `registered defaults are told where they count`() {
    observe(.inMemory(), ["a", "b"]) { preferences in
      preferences.set(1, forKey: "a")
      preferences.register(defaults: ["a": 2, "b": 3])
      preferences.removeObject(forKey: "a")
      preferences.set(3, forKey: "b")
      preferences.register(defaults: ["b": 4])
    }
    #expect(log.texts == ["a: nil -> 1", "b: nil -> 3", "a: 1 -> 2"])
  }

  @Test func `arguments hide what is set`() {
    let preferences = Preferences.inMemory()
    observe(preferences, ["a"]) { preferences in
      preferences.setVolatileDomain(["a": 1], forName: Preferences.argumentDomain)
      preferences.set(2, forKey: "a")
      preferences.set(3, forKey: "a")
      preferences.removeVolatileDomain(forName: Preferences.argumentDomain)
      preferences.set(4, forKey: "a")
    }
    #expect(log.texts == ["a: nil -> 1", "a: 1 -> 3", "a: 3 -> 4"])
  }

  @Test func `suites come and go`() throws {
    let environment = Preferences.Environment.inMemory(appID: "app")
    let suite = try #require(Preferences(suiteName: "suite", environment: environment))
    suite.set(1, forKey: "a")
    observe(.inMemory("app", environment: environment), ["a", "b"]) { preferences in
      preferences.addSuite(named: "suite")
      suite.set(2, forKey: "a")
      suite.set(3, forKey: "b")
      preferences.set(4, forKey: "b")
      preferences.removeSuite(named: "suite")
      suite.set(5, forKey: "a")
    }
    #expect(log.texts == ["a: nil -> 1", "a: 1 -> 2", "b: nil -> 3", "b: 3 -> 4", "a: 2 -> nil"])
  }

  @Test func `domains of others count`() throws {
    let environment = Preferences.Environment.inMemory(appID: "app")
    let preferences = Preferences.inMemory("app", environment: environment)
    observe(preferences, ["a"]) { preferences in
      // The global domain comes to be.
      preferences.setPersistentDomain(["a": 1], forName: Preferences.globalDomain)
      preferences.scopedToCurrentHost().set(2, forKey: "a")
      preferences.setPersistentDomain([:], forName: Preferences.globalDomain)
      preferences.setPersistentDomain(["a": 3], forName: "app")
      preferences.scopedToCurrentHost().removeObject(forKey: "a")
      preferences.removePersistentDomain(forName: "app")
    }
    #expect(log.texts == ["a: nil -> 1", "a: 1 -> 2", "a: 2 -> 3", "a: 3 -> nil"])
  }

  /// One file, two objects, and a third that was released while it was being observed.
  @Test func `other preferences of one domain are own`() throws {
    let environment = Preferences.Environment.inMemory(appID: "app")
    let writer = Preferences.inMemory("app", environment: environment)
    observe(.inMemory("app", environment: environment), ["a"]) { _ in
      writer.set(1, forKey: "a")
    }
    let observation = Preferences.inMemory("app", environment: environment).observe("a") { [log] in
      log.add($0)
    }
    writer.set(2, forKey: "a")
    observation.cancel()
    #expect(log.texts == ["a: nil -> 1", "a: 1 -> 2"])
  }

  /// What an administrator installs is not this process's change.
  @Test func `managed values are told once they are read`() throws {
    let directory = try TemporaryDirectory()
    let environment = Preferences.Environment(
      appID: "app", variables: ["HOME": directory.url.filePath], managedDirectory: directory.url)
    let preferences = try Preferences(environment: environment)
    preferences.set(1, forKey: "a")
    let file = directory.file("app.plist")
    try observe(preferences, ["a"]) { preferences in
      for number in [2, 3] {
        let data = try PropertyListSerialization.data(
          fromPropertyList: ["a": number], format: .binary, options: 0)
        try data.write(to: file)
        preferences.synchronize()
        preferences.set(4, forKey: "a")
      }
      try FileManager.default.removeItem(at: file)
      preferences.synchronize()
    }
    #expect(log.texts == ["a: 1 -> 2 *", "a: 2 -> 3 *", "a: 3 -> 4 *"])
  }
}
