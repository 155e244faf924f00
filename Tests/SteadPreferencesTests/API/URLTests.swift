import Foundation
import Testing

@testable import SteadPreferences

struct URLTests {
  @Test(arguments: [
    "https://example.com", "https://user@example.com:8080/a%20b/?q=1&r=%C3%A9#top",
    "mailto:someone@example.com", "custom-scheme:opaque", "data:text/plain,hello",
  ])
  func `web addresses come back whole`(text: String) throws {
    let home = try TestHome()
    let url = try #require(URL(string: text))
    try Preferences(environment: home.environment()).set(url, forKey: "u")
    let again = try Preferences(environment: home.environment())
    #expect(again.url(forKey: "u") == url)
    #expect(again.url(forKey: "u")?.absoluteString == text)
  }

  @Test(arguments: ["/", "/tmp/a b", "/tmp/é?#%", "/none/../x"])
  func `files are kept as paths`(path: String) {
    let preferences = Preferences.inMemory()
    preferences.set(URL(filePath: path), forKey: "u")
    #expect(preferences.string(forKey: "u") == path)
    #expect(preferences.url(forKey: "u")?.path(percentEncoded: false) == path)
  }

  @Test func `the home directory is a tilde`() {
    let preferences = Preferences.inMemory()
    let home = NSHomeDirectory()
    preferences.set(URL(filePath: home + "/notes.txt"), forKey: "u")
    #expect(preferences.string(forKey: "u") == "~/notes.txt")
    #expect(preferences.url(forKey: "u")?.path(percentEncoded: false) == home + "/notes.txt")
    preferences.set(URL(filePath: home + "2/x"), forKey: "u")
    #expect(preferences.string(forKey: "u") == home + "2/x")
  }

  @Test func `a URL in an Any is kept as a URL`() throws {
    let preferences = Preferences.inMemory()
    let url = try #require(URL(string: "https://example.com/a?b#c"))
    let value: Any = url
    preferences.set(value, forKey: "u")
    #expect(preferences.url(forKey: "u") == url)
    preferences.setValue(url as NSURL, forKey: "v")
    #expect(preferences.url(forKey: "v") == url)
  }

  @Test func `a relative address is kept with its base`() throws {
    let preferences = Preferences.inMemory()
    let url = try #require(URL(string: "b?c", relativeTo: URL(string: "https://example.com/a/")))
    preferences.set(url, forKey: "u")
    #expect(preferences.url(forKey: "u")?.absoluteString == "https://example.com/a/b?c")
  }

  @Test func `data that is no archive is no URL`() {
    let preferences = Preferences.inMemory()
    preferences.set(Data("no archive".utf8), forKey: "u")
    #expect(preferences.url(forKey: "u") == nil)
  }
}
