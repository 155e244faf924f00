import Foundation
import LocalServer
import Synchronization
import Testing

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct SessionCacheTests {
  private let session = URLSession(configuration: .patient)
  private let cache = HTTPCache()

  init() { MemoryPressure.shared.ignoreSystem() }

  @Test func `asks the server once for a fresh response`() async throws {
    let server = try Self.counting(["Cache-Control": "max-age=1000"])
    for _ in 0..<2 {
      let (data, response) = try await session.data(for: try server.request("/a?b"), cache: cache)
      #expect(data == Data("1".utf8))
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
      #expect(response.url == (try server.url("/a?b")))
      #expect(response.mimeType == "text/plain")
    }
    #expect(server.requestCount == 1)
  }

  @Test func `tells what the cache did`() async throws {
    let server = try Self.counting(["Cache-Control": "max-age=1000"])
    var sources: [HTTPCache.Outcome.Source] = []
    for _ in 0..<2 {
      let (reply, _) = try await session.reply(for: try server.request(), cache: cache)
      _ = try await reply.body.data()
      sources.append(reply.outcome.source)
    }
    #expect(sources == [.miss, .hit])
  }

  // A session whose requests were all answered by the cache got a second session, which sent nothing.
  @Test func `a hit makes no transport`() async throws {
    let server = try Self.counting(["Cache-Control": "max-age=1000"])
    _ = try await session.data(for: try server.request(), cache: cache)
    #expect(SessionTransport.isMade(for: session))
    let other = URLSession(configuration: .patient)
    var request = try server.request()
    let (reply, _) = try await other.reply(for: request, cache: cache)
    #expect(reply.outcome.source == .hit)
    #expect(try await reply.text == "1")
    #expect(!SessionTransport.isMade(for: other))
    request.cachePolicy = .reloadIgnoringLocalCacheData
    _ = try await other.data(for: request, cache: cache)
    #expect(SessionTransport.isMade(for: other))
  }

  @Test func `keeps queries apart`() async throws {
    let server = try LocalServer {
      LocalServer.Reply($0.target, fields: [("Cache-Control", "max-age=1000")])
    }
    for target in ["/a?1", "/a?2", "/a", "/a?1"] {
      let (data, _) = try await session.data(for: try server.request(target), cache: cache)
      #expect(data == Data(target.utf8))
    }
    #expect(server.requestCount == 3)
  }

  @Test(arguments: [
    URLRequest.CachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
  ])
  func `reloads and stores`(policy: URLRequest.CachePolicy) async throws {
    let server = try Self.counting(["Cache-Control": "max-age=1000"])
    var request = try server.request()
    let first = try await session.data(for: request, cache: cache).0
    request.cachePolicy = policy
    let second = try await session.data(for: request, cache: cache).0
    request.cachePolicy = .useProtocolCachePolicy
    let third = try await session.data(for: request, cache: cache).0
    #expect([first, second, third] == [Data("1".utf8), Data("2".utf8), Data("2".utf8)])
  }

  @Test(arguments: [
    (URLRequest.CachePolicy.reloadIgnoringLocalCacheData, String?.none),
    (.reloadIgnoringLocalAndRemoteCacheData, "no-cache"),
  ])
  func `asks other caches to reload where the policy says so`(
    policy: URLRequest.CachePolicy, field: String?
  ) async throws {
    let seen = Seen()
    let server = try LocalServer { request in
      seen.add(request)
      return LocalServer.Reply("")
    }
    var request = try server.request()
    request.cachePolicy = policy
    _ = try await session.data(for: request, cache: cache)
    #expect(seen.last?["Cache-Control"] == field)
    #expect(seen.last?["Pragma"] == field)
  }

  @Test func `uses a stale response where the policy prefers it`() async throws {
    let server = try Self.counting(["Cache-Control": "max-age=0", "ETag": "\"1\""])
    var request = try server.request()
    request.cachePolicy = .returnCacheDataElseLoad
    for _ in 0..<2 {
      #expect(try await session.data(for: request, cache: cache).0 == Data("1".utf8))
    }
    #expect(server.requestCount == 1)
  }

  @Test func `loads nothing where the policy forbids it`() async throws {
    let server = try Self.counting(["Cache-Control": "max-age=0", "ETag": "\"1\""])
    var request = try server.request()
    request.cachePolicy = .returnCacheDataDontLoad
    let error = await #expect(throws: URLError.self) {
      try await session.data(for: request, cache: cache)
    }
    #expect(error?.code == .resourceUnavailable)
    // The remedy was a mode alone, which URLSession's callers do not set.
    let cause = error?.userInfo[NSUnderlyingErrorKey] as? HTTPCacheError
    #expect(cause?.message.contains("use another cachePolicy") == true)
    #expect(server.requestCount == 0)
    _ = try await session.data(for: try server.request(), cache: cache)
    #expect(try await session.data(for: request, cache: cache).0 == Data("1".utf8))
    #expect(server.requestCount == 1)
  }

  @Test func `validates where the policy says so`() async throws {
    let server = try LocalServer { request in
      let fields = [("Cache-Control", "max-age=1000"), ("ETag", "\"1\"")]
      guard request["If-None-Match"] == "\"1\"" else {
        return LocalServer.Reply("body", fields: fields)
      }
      return LocalServer.Reply(status: 304, reason: "Not Modified", fields: fields)
    }
    var request = try server.request()
    _ = try await session.data(for: request, cache: cache)
    request.cachePolicy = .reloadRevalidatingCacheData
    let (reply, response) = try await session.reply(for: request, cache: cache)
    #expect(try await reply.body.data() == Data("body".utf8))
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    #expect(reply.outcome.source == .revalidated)
    #expect(server.requestCount == 2)
  }

  @Test func `takes the session's policy for requests without one`() async throws {
    let configuration = URLSessionConfiguration.patient
    configuration.requestCachePolicy = .returnCacheDataDontLoad
    let session = URLSession(configuration: configuration)
    let server = try Self.counting([:])
    let error = await #expect(throws: URLError.self) {
      try await session.data(for: try server.request(), cache: cache)
    }
    #expect(error?.code == .resourceUnavailable)
  }

  @Test func `throws what URLSession throws when offline`() async throws {
    let server = try Self.counting(["Cache-Control": "max-age=0", "ETag": "\"1\""])
    _ = try await session.data(for: try server.request("/stored"), cache: cache)
    cache.isOffline = true
    let stored = try await session.data(for: try server.request("/stored"), cache: cache).0
    #expect(stored == Data("1".utf8))
    let error = await #expect(throws: URLError.self) {
      try await session.data(for: try server.request("/other"), cache: cache)
    }
    #expect(error?.code == .notConnectedToInternet)
    #expect(error?.failingURL == (try server.url("/other")))
    #expect(error?.userInfo[NSUnderlyingErrorKey] is HTTPCacheError)
    #expect(server.requestCount == 1)
  }

  @Test func `throws the error of the network`() async throws {
    let server = try Self.counting([:])
    let request = try server.request()
    server.stop()
    let error = await #expect(throws: URLError.self) {
      try await session.data(for: request, cache: cache)
    }
    #expect(error?.code == .cannotConnectToHost)
  }

  @Test func `shares a cache between sessions`() async throws {
    let server = try Self.counting(["Cache-Control": "max-age=1000"])
    _ = try await session.data(for: try server.request(), cache: cache)
    let other = URLSession(configuration: .patient)
    _ = try await other.data(for: try server.request(), cache: cache)
    #expect(server.requestCount == 1)
  }

  @Test func `loads other URLs without the cache`() async throws {
    let url = try #require(URL(string: "data:text/plain,hello"))
    let (data, _) = try await session.data(for: URLRequest(url: url), cache: cache)
    #expect(data == Data("hello".utf8))
    let error = await #expect(throws: URLError.self) {
      try await session.chunks(for: URLRequest(url: url), cache: cache)
    }
    #expect(error?.code == .unsupportedURL)
  }

  @Test func `sends bodies and forgets what they change`() async throws {
    let seen = Seen()
    let server = try LocalServer { request in
      seen.add(request)
      return LocalServer.Reply("\(seen.count)", fields: [("Cache-Control", "max-age=1000")])
    }
    _ = try await session.data(for: try server.request(), cache: cache)
    var post = try server.request()
    post.httpMethod = "POST"
    post.httpBody = Data("sent".utf8)
    #expect(try await session.data(for: post, cache: cache).0 == Data("2".utf8))
    #expect(seen.last?.body == Data("sent".utf8))
    let next = try await session.data(for: try server.request(), cache: cache).0
    #expect(next == Data("3".utf8))
  }

  @Test func `stores a response to a POST that is the resource itself`() async throws {
    let server = try Self.counting(["Cache-Control": "max-age=1000", "Content-Location": "/"])
    var post = try server.request()
    post.httpMethod = "POST"
    post.httpBody = Data("sent".utf8)
    _ = try await session.data(for: post, cache: cache)
    #expect(try await session.data(for: try server.request(), cache: cache).0 == Data("1".utf8))
    #expect(server.requestCount == 1)
  }

  /// A server whose bodies are the number of the request.
  private static func counting(_ fields: [String: String]) throws -> LocalServer {
    let seen = Seen()
    return try LocalServer { request in
      seen.add(request)
      let all = fields.map { ($0.key, $0.value) } + [("Content-Type", "text/plain")]
      return LocalServer.Reply("\(seen.count)", fields: all)
    }
  }
}

/// The requests that a server got.
final class Seen: Sendable {
  private let requests = Mutex<[LocalServer.Request]>([])

  func add(_ request: LocalServer.Request) { requests.withLock { $0.append(request) } }
  var count: Int { requests.withLock { $0.count } }
  var last: LocalServer.Request? { requests.withLock { $0.last } }
  var targets: [String] { requests.withLock { $0.map(\.target) } }
}

extension LocalServer {
  func request(_ target: String = "/") throws -> URLRequest {
    URLRequest(url: try url(target), timeoutInterval: URLSessionConfiguration.patience)
  }
}
