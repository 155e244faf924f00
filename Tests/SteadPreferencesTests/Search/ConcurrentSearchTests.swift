import Foundation
import Testing

@testable import SteadPreferences

/// Readers take no lock, so lists must not go while they are being read.
struct ConcurrentSearchTests {
  @Test func readersSeeOneListOrTheOther() async throws {
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

  @Test func listsThatComeBackAreUsedAgain() {
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
