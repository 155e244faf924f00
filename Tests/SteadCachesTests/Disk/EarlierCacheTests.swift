import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Caches that an earlier version has filled open with what they hold, and go on.
///
/// A cache may begin again with nothing, so only these tests tell whether an update of the library empties the caches
/// of all programs.
@Suite struct EarlierCacheTests {
  private let parent: TemporaryDirectory
  private var directory: URL { parent.url.appending(path: "cache", directoryHint: .isDirectory) }

  init() throws { parent = try TemporaryDirectory() }

  /// Copies a cache, closed to others, as a cache's directory has to be.
  private func prepare(_ name: String) throws {
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "EarlierCaches/\(name)", directoryHint: .isDirectory)
    try FileManager.default.copyItem(at: source, to: directory)
    try directory.setMode(0o700)
  }

  // MARK: - Values

  private struct Card: Codable, Equatable {
    var name: String
    var numbers: [Int]
  }

  private static let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 100) })

  private func expectContent(_ cache: DiskCache) {
    #expect(cache.data(for: "plain") == Data([0, 127, 255]))
    #expect(cache.data(for: "ключ 🚢") == Data("unicode".utf8))
    #expect(cache.data(for: "empty") == Data())
    #expect(cache.value(Card.self, for: "card") == Card(name: "é", numbers: [1, 2]))
    #expect(cache.data(for: "large") == Self.large)
    #expect(cache.data(for: "metadata") == Data("with".utf8))
    #expect(cache.entry(for: "metadata")?.metadata == Data("metadata".utf8))
    #expect(cache.data(for: "expired") == nil)
    #expect(cache.data(for: "removed") == nil)
  }

  @Test func `values are found`() throws {
    try prepare("disk")
    let cache = DiskCache(directory: directory)
    // The expired one counts until it is removed.
    #expect([8, 9].contains(cache.count))
    for _ in 1...2 { expectContent(cache) }
    for tag in ["one", "two"] { #expect(cache.data(for: "tagged \(tag)") == Data(tag.utf8)) }
    expectContent(DiskCache(directory: directory))
  }

  @Test func `values are set, and removed by their tags`() throws {
    try prepare("disk")
    let cache = DiskCache(directory: directory)
    #expect(cache.setData(Data("new".utf8), for: "new", timeToLive: .seconds(600), tags: ["one"]))
    #expect(cache.setData(Self.large + Self.large, for: "larger"))
    expectContent(cache)
    #expect(cache.removeValues(taggedWith: "one"))
    let again = DiskCache(directory: directory)
    expectContent(again)
    #expect(again.data(for: "tagged one") == nil && again.data(for: "new") == nil)
    #expect(again.data(for: "tagged two") == Data("two".utf8))
    #expect(again.data(for: "larger") == Self.large + Self.large)
    #expect(again.removeAll() && again.count == 0 && again.totalSize == 0)
  }

  // MARK: - Responses

  private func page(_ language: String) throws -> HTTPCache.Request {
    let url = try #require(URL(string: "https://example.com/page?a=1"))
    return HTTPCache.Request(url: url, fields: ["Accept-Language": language])
  }

  @Test(arguments: ["de", "en"])
  func `a stored response is found and confirmed`(language: String) async throws {
    try prepare("http")
    let cache = HTTPCache(directory: directory)
    let request = try page(language)
    let stored = try #require(cache.storedResponse(to: request))
    #expect(stored.response.status == 200)
    #expect(stored.response.fields["ETag"] == "\"\(language)\"")
    #expect(stored.response.fields["X-Name"] == "kept")
    #expect(try await stored.body.data() == Data("page in \(language)".utf8))
    // It is stale by now, so the server is asked whether it still holds.
    let reply = try await cache.response(to: request) { question in
      #expect(question.fields["If-None-Match"] == "\"\(language)\"")
      return (
        HTTPCache.Response(
          status: 304, fields: ["ETag": "\"\(language)\"", "Cache-Control": "max-age=600"]),
        HTTPCache.Body()
      )
    }
    #expect(reply.outcome.source == .revalidated)
    #expect(try await reply.body.data() == Data("page in \(language)".utf8))
    let fresh = try await cache.response(to: request) { _ in throw URLError(.cancelled) }
    #expect(fresh.outcome.source == .hit)
  }

  @Test func `a body in a file is found, and a new one is stored`() async throws {
    try prepare("http")
    let url = try #require(URL(string: "https://example.com/large"))
    let cache = HTTPCache(directory: directory)
    let stored = try #require(cache.storedResponse(to: HTTPCache.Request(url: url)))
    #expect(try await stored.body.data() == Self.large)
    let reply = try await cache.response(to: HTTPCache.Request(url: url)) { _ in
      (
        HTTPCache.Response(status: 200, fields: ["Cache-Control": "max-age=600"]),
        HTTPCache.Body(Data("new".utf8))
      )
    }
    #expect(try await reply.body.data() == Data("new".utf8))
    #expect(reply.outcome.source == .miss)
  }
}
