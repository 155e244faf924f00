#if Server
  import AsyncHTTPClient
  import CacheMiddleware
  import Foundation
  import HTTPTypes
  import Hummingbird
  import HummingbirdTesting
  import NIOCore
  import SteadCaches
  import Testing

  /// Hosts and targets as hostile clients send them: what is stored under a URL is what the route answers to that URL.
  @Suite(.timeLimit(.minutes(1))) struct KeyTests {
    private static let authorities: [String?] = [
      "example.com", "EXAMPLE.com:443", "example.com:8080", "example.com:", "example.com:0443",
      "example.com/account/login#", "example.com#", "example.com?x=1", "example.com/",
      "example.com\\",
      "anna@example.com", "@example.com", "anna:b@example.com", "exa mple.com", "example.com\t",
      "example.com%2Faccount", "example.com%23", "example.com,example.org", "exämple.com", "[::1]",
      "[::1", "127.0.0.1", "localhost", ":443", "", nil,
    ]
    private static let targets = [
      "/", "", "*", "/account/login", "/account/login#x", "/account/login?x=1",
      "/account/login?x=1#y", "/account/login?", "/account/login#", "account/login",
      "//account/login", "//example.com/account/login", "/evil/../account/login",
      "/account/./login", "/account/%6Cogin", "/account%2Flogin", "/account\\login",
      "/account/log in", "/account/log%20in", "/account/login\t", "/ä", "/%C3%A4", "/%c3%a4",
      "/a%zz", "/a%25zz", "/a[1]", "/a%5B1%5D", "/a?b[]=1", "/a?b%5B%5D=1", "/a|b", "/a%7Cb",
      "http://example.com/account/login", "@example.com/account/login", ":80/account/login",
    ]

    /// The URL that a request is for, in a spelling of its own: only the case of the host and the scheme's port don't
    /// count.
    private static func identity(_ request: Request) -> String {
      var authority = request.head.authority?.lowercased()
      if let name = authority, name.hasSuffix(":443") { authority = String(name.dropLast(4)) }
      return "\(authority ?? "none") \(request.head.path ?? "none")"
    }

    // A `Host` of `example.com/account/login#` and the target `/evil` made a valid URL, whose fragment doesn't count: what the
    // route `/evil` answered was stored for `/account/login`, and all users got it.
    @Test func `each request gets the answer to its own URL, whoever asked before`() async throws {
      let middleware = Middleware()
      var requests = Self.authorities.flatMap { authority in
        Self.targets.map { target in
          Request(
            head: HTTPRequest(method: .get, scheme: nil, authority: authority, path: target),
            body: .init(buffer: .init()))
        }
      }
      requests += requests.reversed()
      for request in requests {
        let response = try await middleware.answer(request) {
          Response(Self.identity($0), "s-maxage=1000")
        }
        let text = try await response.text
        #expect(text == Self.identity(request), "\(request.head)")
      }
      let stored = Set(middleware.cache.storedURLs.map(\.absoluteString))
      for url in [
        "https://example.com/", "https://example.com/account/login",
        "https://example.com:8080/account/login?x=1", "https://[::1]/account/login",
      ] {
        #expect(stored.contains(url))
      }
    }

    @Test func `a host with a fragment stores nothing for another page`() async throws {
      let router = Router()
      router.add(middleware: CacheMiddleware(cache: Middleware().cache, scheme: "http"))
      router.get("evil") { _, _ in Response("evil", "s-maxage=1000") }
      router.get("account/login") { _, _ in Response("login", "s-maxage=1000") }
      try await Application(router: router).test(.live) { server in
        let port = try #require(server.port)
        func get(_ path: String, host: String) async throws -> String {
          var request = HTTPClientRequest(url: "http://localhost:\(port)\(path)")
          request.headers.add(name: "Host", value: host)
          let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
          return String(buffer: try await response.body.collect(upTo: 1_000))
        }
        let evil = try await get("/evil", host: "example.com/account/login#")
        #expect(evil == "evil")
        let login = try await get("/account/login", host: "example.com")
        #expect(login == "login")
      }
    }

    // HTTP/2 has no `Transfer-Encoding`, and a body needs no `Content-Length`: the answer to a GET's body was stored for its
    // URL, and given to requests without one.
    @Test func `a body without a length does not choose what others get`() async throws {
      let middleware = Middleware()
      let body = RequestBody(buffer: ByteBuffer(string: "evil"))
      for body in [body, RequestBody(buffer: ByteBuffer())] {
        let response = try await middleware.answer("/search", body: body) { request in
          let body = String(buffer: try await request.body.collect(upTo: 1_000))
          return Response("results of \(body)", "s-maxage=1000")
        }
        let text = try await response.text
        #expect(text == "results of ")
      }
    }

    @Test func `a body with a length reaches the route`() async throws {
      let middleware = Middleware()
      for length in ["4", "0004"] {
        let head = HTTPRequest(
          method: .get, scheme: nil, authority: "example.com", path: "/search",
          headerFields: [.contentLength: length])
        let request = Request(head: head, body: .init(buffer: ByteBuffer(string: "text")))
        let response = try await middleware.answer(request) { request in
          Response(String(buffer: try await request.body.collect(upTo: 10)), "s-maxage=1000")
        }
        let text = try await response.text
        #expect(text == "text")
      }
      #expect(middleware.cache.storedURLs.isEmpty)
    }
  }
#endif
