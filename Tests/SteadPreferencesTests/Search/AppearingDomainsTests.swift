import Foundation
import Testing

@testable import SteadPreferences

/// Domains that were not there when the preferences were opened, and come to be by other hands.
///
/// Two environments on one home stand for two processes: they share only files, and what is open of them.
@Suite(.hangLimit)
struct AppearingDomainsTests {
  private let home: TestHome
  private let app: Preferences
  private let other: Preferences

  init() throws {
    home = try TestHome()
    app = try Preferences(environment: home.environment())
    other = try Preferences(environment: home.environment())
  }

  /// The next change of `k`.
  private func change(_ make: () throws -> Void) async throws -> PropertyList? {
    var changes = app.changes(for: "k").makeAsyncIterator()
    try make()
    return try #require(await changes.next()).new
  }

  @Test func `the global domain comes`() async throws {
    let global = Preferences.globalDomain
    let new = try await change { other.setPersistentDomain(["k": 1], forName: global) }
    #expect(new == .integer(1))
    #expect(app.integer(forKey: "k") == 1)
  }

  @Test func `the host's domain comes`() async throws {
    let new = try await change { other.scopedToCurrentHost().set("host", forKey: "k") }
    #expect(new == .string("host"))
    #expect(app.string(forKey: "k") == "host")
  }

  @Test func `an administrator's file comes and changes and goes`() async throws {
    app.set("app", forKey: "k")
    let file = home.managed.appending(path: "com.example.app.plist")
    let first = try await change { try home.write(["k": .string("fixed")], to: file) }
    #expect(first == .string("fixed"))
    #expect(app.objectIsForced(forKey: "k"))
    let second = try await change { try home.write(["k": .string("changed")], to: file) }
    #expect(second == .string("changed"))
    let third = try await change { try home.removeFile(file) }
    #expect(third == .string("app"))
    #expect(!app.objectIsForced(forKey: "k"))
  }

  @Test func `a file for all users comes`() async throws {
    let file = home.allUsers.appending(path: "com.example.app/com.example.app.plist")
    let new = try await change { try home.write(["k": .bool(true)], to: file) }
    #expect(new == .bool(true))
  }

  /// Once each suite left a property list's contents and a watch for good, whose number is limited.
  @Test func `what a suite follows goes with it`() throws {
    let environment = home.environment(appID: "com.example.many")
    let shared = environment.search.shared
    for number in 0..<400 {
      let suite = try Preferences(domain: "com.example.\(number)", environment: environment)
      #expect(!suite.bool(forKey: "k"))
    }
    // Entries of what is gone are cleared away now and then.
    #expect(shared.registeredCount < 300)
    let kept = try Preferences(domain: "com.example.kept", environment: environment)
    let file = home.managed.appending(path: "com.example.kept.plist")
    try home.write(["k": .bool(true)], to: file)
    kept.synchronize()
    #expect(kept.bool(forKey: "k") && kept.objectIsForced(forKey: "k"))
  }
}
