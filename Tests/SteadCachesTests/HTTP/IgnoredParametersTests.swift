import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

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
