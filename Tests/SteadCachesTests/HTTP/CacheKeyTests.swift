import Foundation
import SteadTestSupport
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
  func `spells a URL in one way`(text: String, spelled: String) throws {
    #expect(try key(text)?.string == spelled)
  }

  @Test(arguments: [
    "file:///a", "ftp://a.example/", "mailto:a@example", "data:,a", "/a", "http:a", "http:///a",
  ])
  func `takes no other URLs`(text: String) throws {
    #expect(try key(text) == nil)
  }

  @Test func `knows host and origin`() throws {
    #expect(try key("http://u@A.example:8080/b")?.origin == "http://a.example:8080")
    #expect(try key("http://u@A.example:8080/b")?.host == "a.example")
    #expect(try key("http://[::1]:8080/")?.host == "::1")
  }

  @Test func `finds what a method invalidates`() throws {
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

/// URLs that differ only in parameters that don't count, such as signatures.
@Suite(.hangLimit) struct IgnoredParametersTests {
  private static let names: Set = ["sig", "X-Amz-Date", "a b", "ü"]

  @Test(arguments: [
    ("/p?sig=1", "/p"), ("/p?sig=1&b=2", "/p?b=2"), ("/p?b=2&sig=1", "/p?b=2"),
    ("/p?b=2&sig=1&c=3", "/p?b=2&c=3"), ("/p?sig&b", "/p?b"), ("/p?sig=1&sig=2", "/p"),
    ("/p?b=2", "/p?b=2"), ("/p?", "/p?"), ("/p?&b=&", "/p?&b=&"),
    ("/p?signature=1", "/p?signature=1"),
    ("/p?SIG=1", "/p?SIG=1"), ("/p?b=sig", "/p?b=sig"), ("/p?%73ig=1&b", "/p?b"),
    ("/p?X-Amz-Date=1", "/p"), ("/p?a+b=1&a%20b=2&c", "/p?c"), ("/p?%C3%BC=1", "/p"),
    ("/p?b=?sig=1", "/p?b=?sig=1"), ("?sig=1", "/"), ("/p?sig=1#sig", "/p"), ("/sig=1", "/sig=1"),
  ])
  func `parameters that don't count are not in the key`(path: String, rest: String) throws {
    let url = try #require(URL(string: "http://a.example" + path))
    #expect(CacheKey(url, ignoring: Self.names)?.string == "http://a.example" + rest)
    #expect(CacheKey(url)?.string.contains("sig") == path.prefix { $0 != "#" }.contains("sig"))
  }

  // Each signed URL had a response of its own, so nothing that was signed was ever found again.
  @Test(arguments: [false, true])
  func `signed URLs share a response`(isReadFromDisk: Bool) async throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let origin = Origin(["Cache-Control": "max-age=10", "ETag": "\"1\""])
    let configuration = HTTPCache.Configuration(ignoredParameters: ["sig"])
    var cache = origin.cache(in: directory.url, configuration: configuration)
    _ = try await origin.get("/a?size=2&sig=1", from: cache).text
    if isReadFromDisk { cache = origin.cache(in: directory.url, configuration: configuration) }
    #expect(try await origin.get("/a?sig=2&size=2", from: cache).outcome.source == .hit)
    #expect(try await origin.get("/a?sig=2&size=3", from: cache).outcome.source == .miss)
    origin.advance(20)
    origin.answer(status: 304, ["Cache-Control": "max-age=10"], body: "")
    let confirmed = try await origin.get("/a?size=2&sig=3", from: cache)
    #expect(confirmed.outcome.source == .revalidated)
    // The server is sent the URL as it is.
    #expect(
      origin.requests.map { $0.url.query(percentEncoded: false) } == [
        "size=2&sig=1", "sig=2&size=3", "size=2&sig=3",
      ])
    #expect(
      Set(cache.storedURLs.map(\.absoluteString)) == [
        "http://a.example/a?size=2", "http://a.example/a?size=3",
      ])
    cache.removeResponses(for: try Origin.request("/a?sig=9&size=2").url)
    #expect(try cache.storedResponse(to: Origin.request("/a?size=2&sig=1")) == nil)
    cache.removeResponses(withPrefix: try Origin.request("/a?sig=9").url)
    #expect(cache.storedURLs.isEmpty)
  }

  @Test func `simultaneous requests with different signatures make one fetch`() async throws {
    let chunks = Chunks()
    let origin = Origin(chunks, length: 4)
    let cache = origin.cache(configuration: .init(ignoredParameters: ["sig"]))
    let first = try await origin.get("/?sig=1", from: cache)
    async let second = origin.get("/?sig=2", from: cache).text
    chunks.send("body")
    chunks.finish()
    #expect(try await first.text == "body")
    #expect(try await second == "body")
    #expect(origin.requests.count == 1)
  }

  @Test func `a change invalidates every signature`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10"])
    let cache = origin.cache(configuration: .init(ignoredParameters: ["sig"]))
    _ = try await origin.get("/?sig=1", from: cache).text
    _ = try await origin.get("/?sig=2", method: "PUT", from: cache).text
    #expect(try cache.storedResponse(to: Origin.request("/?sig=1")) == nil)
  }
}

@Suite struct SelectionTests {
  private func request(_ fields: HTTPCache.Fields) throws -> HTTPCache.Request {
    HTTPCache.Request(url: try #require(URL(string: "http://a.example/")), fields: fields)
  }

  private func matches(
    _ stored: HTTPCache.Fields, _ vary: HTTPCache.Fields, _ new: HTTPCache.Fields
  ) throws -> Bool {
    try #require(VaryKey(of: request(stored), for: vary)).matches(request(new))
  }

  @Test func `compares the fields that Vary names`() throws {
    let vary: HTTPCache.Fields = ["Vary": "Foo, bar"]
    #expect(try matches(["foo": "1", "Other": "2"], vary, ["Foo": "1", "Other": "3"]))
    #expect(try !matches(["foo": "1"], vary, ["foo": "2"]))
    #expect(try !matches(["foo": "1"], vary, [:]))
    #expect(try !matches([:], vary, ["foo": "1"]))
    #expect(try !matches(["foo": "1"], vary, ["foo": "1", "bar": ""]))
    #expect(try matches(["foo": "1, 2"], vary, ["foo": "1", "Foo": " 2 "]))
    #expect(try !matches(["foo": "a"], vary, ["foo": "A"]))
  }

  @Test(arguments: ["*", "*, *", ", *", "Foo, *"])
  func `matches nothing with a star`(vary: String) throws {
    #expect(VaryKey(of: try request([:]), for: ["Vary": vary]) == nil)
  }

  @Test func `reads the meaning of languages`() throws {
    let vary: HTTPCache.Fields = ["Vary": "Accept-Language", "Content-Language": "DE"]
    let (name, stored): (String, HTTPCache.Fields) = (
      "Accept-Language", ["Accept-Language": "en, de"]
    )
    for same in ["de, en", "eN ,  De", "en;q=1, de;q=1.0"] {
      #expect(try matches(stored, ["Vary": name], [name: same]), "\(same)")
    }
    #expect(try !matches(stored, ["Vary": name], [name: "en;q=0.5, de"]))
    // The stored one is in German, and German is wanted most.
    #expect(try matches(stored, vary, [name: "fr;q=0.5, de"]))
    #expect(try !matches(stored, vary, [name: "fr, de;q=0.5"]))
    #expect(try !matches(stored, vary, [name: "fr, de"]))
    // No language is wanted, least of all German.
    #expect(try !matches(stored, vary, [name: "de;q=0"]))
  }

  /// What one account was sent is never used for another, whatever `Vary` says.
  @Test func `keeps accounts apart`() throws {
    #expect(try matches(["Authorization": "A"], [:], ["authorization": "A"]))
    #expect(try !matches(["Authorization": "A"], [:], ["Authorization": "B"]))
    #expect(try !matches(["Authorization": "A"], [:], [:]))
    #expect(try !matches([:], [:], ["Authorization": "A"]))
  }

  @Test func `keeps hosts apart`() throws {
    #expect(try matches([:], [:], ["Host": "A.example"]))
    #expect(try matches(["Host": "a.example:80"], [:], [:]))
    #expect(try matches(["Host": "b.example"], [:], ["host": "B.example"]))
    #expect(try !matches(["Host": "b.example"], [:], [:]))
    #expect(try !matches([:], [:], ["Host": "b.example"]))
    #expect(try !matches([:], ["Vary": "Host"], ["Host": "a.example:81"]))
    #expect(try !matches(["Host": "b.example"], [:], ["Host": "c.example"]))
  }

  @Test func `keeps no secret`() throws {
    let fields: HTTPCache.Fields = ["Authorization": "Bearer secret", "Cookie": "id=secret"]
    let varyKey = try #require(VaryKey(of: request(fields), for: ["Vary": "Cookie"]))
    #expect(varyKey.values.count == 2)
    #expect(!"\(varyKey)".contains("secret"))
  }
}
