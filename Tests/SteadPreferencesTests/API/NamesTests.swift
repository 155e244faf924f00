import Foundation
import Testing

@testable import SteadPreferences

/// A name of a suite becomes the name of a file: `../x` once led out of the directory.
struct NamesTests {
  static let refused = [
    "", ".", "..", "../x", "a/b", "/etc/passwd", "a\0b", "a..b", ".hidden", "a\nb", "a\\b",
    String(repeating: "a", count: 181), String(repeating: "é", count: 91), "\u{7F}",
  ]

  @Test(arguments: refused)
  func namesThatLeadElsewhereAreRefused(name: String) throws {
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
  func plainNamesAreTaken(name: String) throws {
    let home = try TestHome()
    let suite = try #require(Preferences(suiteName: name, environment: home.environment()))
    suite.set(1, forKey: "k")
    #expect(suite.synchronize())
    let file = home.config.appending(path: "\(name)/\(name).plist")
    #expect(FileManager.default.fileExists(atPath: file.filePath))
  }

  @Test func theAppAndTheGlobalDomainAreNoSuites() throws {
    let environment = Preferences.Environment.inMemory(appID: "com.example.app")
    #expect(Preferences(suiteName: "com.example.app", environment: environment) == nil)
    #expect(Preferences(suiteName: Preferences.globalDomain, environment: environment) == nil)
    let own = try #require(Preferences(suiteName: nil, environment: environment))
    #expect(own.domain == "com.example.app")
  }

  @Test func theProcesssIdentifierIsAName() throws {
    let id = Preferences.Environment(variables: [:]).appID
    #expect(throws: Never.self) { try DomainName.check(id) }
  }
}
