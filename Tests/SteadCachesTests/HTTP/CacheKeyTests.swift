import Foundation
import Testing

@testable import SteadCaches

@Suite struct CacheKeyTests {
  private func key(_ text: String) throws -> CacheKey? { CacheKey(try #require(URL(string: text))) }

  @Test(arguments: [
    ("HTTP://A.Example", "http://a.example/"), ("http://a.example:80/", "http://a.example/"),
    ("https://a.example:443?b", "https://a.example/?b"),
    ("http://a.example/b#c", "http://a.example/b"),
    ("http://a.example:443/", "http://a.example:443/"),
    ("http://U:p@A.example/b", "http://U:p@a.example/b"),
    ("http://a.example/B?C=D&C", "http://a.example/B?C=D&C"),
    ("http://[::1]:8080/", "http://[::1]:8080/"),
  ])
  func spellsAURLInOneWay(text: String, spelled: String) throws {
    #expect(try key(text)?.string == spelled)
  }

  @Test(arguments: [
    "file:///a", "ftp://a.example/", "mailto:a@example", "data:,a", "/a", "http:a", "http:///a",
  ])
  func takesNoOtherURLs(text: String) throws {
    #expect(try key(text) == nil)
  }

  @Test func knowsHostAndOrigin() throws {
    #expect(try key("http://u@A.example:8080/b")?.origin == "http://a.example:8080")
    #expect(try key("http://u@A.example:8080/b")?.host == "a.example")
    #expect(try key("http://[::1]:8080/")?.host == "::1")
  }

  @Test func findsWhatAMethodInvalidates() throws {
    let url = try #require(URL(string: "http://a.example/b/c"))
    func keys(_ method: String, _ status: Int, _ fields: HTTPCache.Fields = [:]) -> [String] {
      Invalidation.keys(
        of: HTTPCache.Request(method: method, url: url),
        response: HTTPCache.Response(status: status, fields: fields)
      ).map(\.string)
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "get"] {
      #expect(keys(method, 200) == ["http://a.example/b/c"], "\(method)")
    }
    for method in ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"] {
      #expect(keys(method, 200) == [])
    }
    #expect(keys("POST", 303).count == 1)
    #expect(keys("POST", 404) == [])
    #expect(keys("POST", 500) == [])
    #expect(
      keys("PUT", 201, ["Location": "d", "Content-Location": "/e"])
        == ["http://a.example/b/c", "http://a.example/b/d", "http://a.example/e"])
    #expect(
      keys(
        "PUT", 201,
        ["Location": "http://other.example/b", "Content-Location": "https://a.example/b"]
      ).count
        == 1)
  }
}
