import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Which URLs a cache has responses of, and how those below one are removed.
@Suite(.hangLimit) struct HTTPCachePrefixTests {
  private static let paths = [
    "/", "/a", "/a/", "/a/b", "/a/b?c=1", "/ab", "/A/b", "/b/a", "/%C3%A9",
  ]

  private func urls(_ cache: HTTPCache) -> Set<String> {
    Set(cache.storedURLs.map(\.absoluteString))
  }

  @Test(
    arguments: [
      ("http://a.example", paths), ("HTTP://A.example:80/#x", paths),
      ("http://a.example/a", ["/a", "/a/", "/a/b", "/a/b?c=1", "/ab"]),
      ("http://a.example/a/", ["/a/", "/a/b", "/a/b?c=1"]),
      ("http://a.example/a/b?c", ["/a/b?c=1"]), ("http://a.example/none", []),
      ("https://a.example/", []), ("http://b.example/", []),
    ] as [(String, [String])], [false, true])
  func `responses below a URL are removed`(
    test: (prefix: String, removed: [String]), isOnDisk: Bool
  ) async throws {
    let directory = isOnDisk ? try TemporaryDirectory(inMemory: true) : nil
    let place = directory?.url.appending(path: "http")
    let origin = Origin(["Cache-Control": "max-age=10"])
    let cache = origin.cache(in: place)
    for path in Self.paths { _ = try await origin.get(path, from: cache) }
    #expect(urls(cache) == Set(Self.paths.map { "http://a.example" + $0 }))
    cache.removeResponses(withPrefix: try #require(URL(string: test.prefix)))
    let rest = Self.paths.filter { !test.removed.contains($0) }
    #expect(urls(cache) == Set(rest.map { "http://a.example" + $0 }))
    for path in Self.paths {
      let found = cache.storedResponse(to: try Origin.request(path))
      #expect((found != nil) == rest.contains(path), "\(path)")
    }
    if isOnDisk { #expect(urls(origin.cache(in: place)) == urls(cache)) }
  }

  @Test func `a response on its way below a removed URL is not stored`() async throws {
    let chunks = Chunks()
    let origin = Origin(chunks)
    let cache = origin.cache()
    let (below, beside) = (
      try await origin.get("/a/b", from: cache),
      try await cache.response(
        to: Origin.request("/c")
      ) { _ in
        (.init(status: 200, fields: ["Cache-Control": "max-age=10"]), .init(Data("c".utf8)))
      }
    )
    cache.removeResponses(withPrefix: try #require(URL(string: "http://a.example/a/")))
    chunks.send("body")
    chunks.finish()
    #expect(try await below.text == "body")
    #expect(try await beside.text == "c")
    #expect(urls(cache) == ["http://a.example/c"])
  }
}
