import CachesTestSupport
import Foundation
import LocalServer
import Synchronization
import Testing

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct SessionRedirectTests {
  private let session = URLSession(configuration: .patient)
  private let cache = HTTPCache()
  private let seen = Seen()

  init() { MemoryPressure.shared.ignoreSystem() }

  @Test func `stores each response of a chain`() async throws {
    let server = try server()
    for _ in 0..<2 {
      let (data, response) = try await session.data(for: try server.request("/old"), cache: cache)
      #expect(data == Data("new".utf8))
      #expect(response.url == (try server.url("/new")))
    }
    _ = try await session.data(for: try server.request("/new"), cache: cache)
    #expect(seen.targets == ["/old", "/new"])
  }

  @Test func `hands on a redirect that is not followed`() async throws {
    let server = try server()
    let (data, response) = try await session.data(
      for: try server.request("/old"), cache: cache, followsRedirects: false)
    #expect(data == Data("moved".utf8))
    #expect((response as? HTTPURLResponse)?.statusCode == 301)
    #expect(response.url == (try server.url("/old")))
    #expect(seen.targets == ["/old"])
  }

  @Test func `sends no credentials to another server`() async throws {
    let other = try server()
    let target = try other.url("/new").absoluteString
    let server = try LocalServer { _ in
      LocalServer.Reply(status: 302, reason: "Found", fields: [("Location", target)])
    }
    var request = try server.request()
    request.setValue("secret", forHTTPHeaderField: "Authorization")
    #expect(try await session.data(for: request, cache: cache).0 == Data("new".utf8))
    #expect(seen.last?["Authorization"] == nil)
  }

  // The session added its fields to each request of a chain, whichever origin that went to.
  @Test(arguments: ["Authorization", "authorization", "Cookie", "Proxy-Authorization", "Host"])
  func `sends no credentials of the session to another server`(name: String) async throws {
    let other = try server()
    let target = try other.url("/new").absoluteString
    let first = Seen()
    let server = try LocalServer { request in
      first.add(request)
      return LocalServer.Reply(status: 302, reason: "Found", fields: [("Location", target)])
    }
    let session = session(adding: [name: "secret", "X-Own": "1"])
    _ = try await session.data(for: try server.request(), cache: cache)
    #expect(first.last?[name] == "secret")
    #expect(seen.count == 1)
    #expect(seen.last?[name] == (name == "Host" ? "127.0.0.1:\(other.port)" : nil))
    #expect(seen.last?["X-Own"] == "1")
  }

  @Test func `sends no credentials back to the first server`() async throws {
    let moves = Mutex(["/left"])
    let other = try LocalServer { _ in
      let target = moves.withLock { $0.removeLast() }
      return LocalServer.Reply(status: 302, reason: "Found", fields: [("Location", target)])
    }
    let away = try other.url("/away").absoluteString
    let server = try LocalServer { [seen] request in
      seen.add(request)
      guard request.target == "/" else { return LocalServer.Reply("back") }
      return LocalServer.Reply(status: 302, reason: "Found", fields: [("Location", away)])
    }
    moves.withLock { $0 = [server.base + "/back"] }
    let session = session(adding: ["Authorization": "secret"])
    let (data, _) = try await session.data(for: try server.request(), cache: cache)
    #expect(data == Data("back".utf8))
    #expect(seen.targets == ["/", "/back"])
    #expect(seen.last?["Authorization"] == nil)
  }

  @Test func `sends the cookies of the server that it goes to`() async throws {
    let other = try server()
    let target = "http://localhost:\(other.port)/new"
    let server = try LocalServer { _ in
      LocalServer.Reply(status: 302, reason: "Found", fields: [("Location", target)])
    }
    let session = session(adding: ["Cookie": "secret"])
    let cookie = HTTPCookie(properties: [
      .name: "user", .value: "anna", .path: "/", .domain: "localhost",
    ])
    session.configuration.httpCookieStorage?.setCookie(try #require(cookie))
    _ = try await session.data(for: try server.request(), cache: cache)
    #expect(seen.last?["Cookie"] == "user=anna")
  }

  // Nobody read the body: without a length it could be dropped before its end, and was not stored then.
  @Test func `stores a redirect whose body has no length`() async throws {
    let server = try streamingServer()
    // One alone may come to its end before it is dropped.
    for number in 0..<100 {
      let request = try server.request("/old?\(number)")
      for _ in 0..<2 { _ = try await session.data(for: request, cache: cache) }
    }
    #expect(seen.targets.count { $0 != "/new" } == 100)
  }

  @Test func `reads no long body to its end`() async throws {
    let reads = LoadCount()
    let endless = AsyncStream<Data> {
      reads.add()
      return Data(count: 1000)
    }
    await RedirectChain.finish(HTTPCache.Body(endless))
    #expect(reads.count == HTTPCache.redirectBodyLimit / 1000 + 1)
  }

  @Test func `ends a loop`() async throws {
    let server = try LocalServer { _ in
      LocalServer.Reply(status: 302, reason: "Found", fields: [("Location", "/loop")])
    }
    let error = await #expect(throws: URLError.self) {
      try await session.data(for: try server.request("/loop"), cache: cache)
    }
    #expect(error?.code == .httpTooManyRedirects)
    #expect(server.requestCount == HTTPCache.redirectLimit + 1)
  }

  private func session(adding fields: [String: String]) -> URLSession {
    let configuration = URLSessionConfiguration.patient
    configuration.httpAdditionalHeaders = fields
    return URLSession(configuration: configuration)
  }

  /// A server whose redirect has a body of a length that isn't known before its end.
  private func streamingServer() throws -> LocalServer {
    try LocalServer { [seen] request in
      seen.add(request)
      let fresh = ("Cache-Control", "max-age=1000")
      guard request.target != "/new" else { return LocalServer.Reply("new", fields: [fresh]) }
      return LocalServer.Reply(
        status: 301, reason: "Moved Permanently", fields: [fresh, ("Location", "/new")],
        body: .stream { try $0.write(Data("moved".utf8)) })
    }
  }

  private func server() throws -> LocalServer {
    try LocalServer { [seen] request in
      seen.add(request)
      let fresh = ("Cache-Control", "max-age=1000")
      guard request.target == "/old" else { return LocalServer.Reply("new", fields: [fresh]) }
      return LocalServer.Reply(
        status: 301, reason: "Moved Permanently", fields: [fresh, ("Location", "/new")],
        body: .data(Data("moved".utf8)))
    }
  }
}
