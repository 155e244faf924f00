import Foundation
import LocalServer
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

  @Test func storesEachResponseOfAChain() async throws {
    let server = try server()
    for _ in 0..<2 {
      let (data, response) = try await session.data(for: try server.request("/old"), cache: cache)
      #expect(data == Data("new".utf8))
      #expect(response.url == (try server.url("/new")))
    }
    _ = try await session.data(for: try server.request("/new"), cache: cache)
    #expect(seen.targets == ["/old", "/new"])
  }

  @Test func handsOnARedirectThatIsNotFollowed() async throws {
    let server = try server()
    let (data, response) = try await session.data(
      for: try server.request("/old"), cache: cache, followsRedirects: false)
    #expect(data == Data("moved".utf8))
    #expect((response as? HTTPURLResponse)?.statusCode == 301)
    #expect(response.url == (try server.url("/old")))
    #expect(seen.targets == ["/old"])
  }

  @Test func sendsNoCredentialsToAnotherServer() async throws {
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

  @Test func endsALoop() async throws {
    let server = try LocalServer { _ in
      LocalServer.Reply(status: 302, reason: "Found", fields: [("Location", "/loop")])
    }
    let error = await #expect(throws: URLError.self) {
      try await session.data(for: try server.request("/loop"), cache: cache)
    }
    #expect(error?.code == .httpTooManyRedirects)
    #expect(server.requestCount == HTTPCache.redirectLimit + 1)
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
