#if Server
  import CacheMiddleware
  import CachingClient
  import Foundation
  import HTTPTypes
  import Hummingbird
  import HummingbirdTesting
  import NIOFoundationCompat
  import SteadCaches
  import Synchronization
  import Testing

  /// A server behind a gateway with a shared cache, and a client with a private one. All talk by HTTP.
  @Suite struct HTTPExampleTests {
    /// What routes have been asked.
    private final class Log: Sendable {
      private let lines = Mutex<[String]>([])
      var all: [String] { lines.withLock { $0 } }
      func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// "hello " forty times, by gzip.
    private static let packed =
      Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJV8gYMSQAnlCUffAAAAA=") ?? Data()
    private static let plain = String(repeating: "hello ", count: 40)

    private static func response(
      _ text: String, _ control: String, _ fields: [HTTPField] = [],
      status: HTTPResponse.Status = .ok
    ) -> Response {
      var headers = HTTPFields()
      for field in fields { headers.append(field) }
      headers[.cacheControl] = control
      return Response(
        status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private func router(_ log: Log, _ cache: HTTPCache? = nil) -> Router<BasicRequestContext> {
      let router = Router()
      if let cache { router.add(middleware: CacheMiddleware(cache: cache, scheme: "http")) }
      func get(
        _ path: RouterPath, _ answer: @escaping @Sendable (Request) async throws -> Response
      ) {
        router.get(path) { request, _ in
          log.add(request.uri.string)
          return try await answer(request)
        }
      }
      get("all") { _ in Self.response("for all", "s-maxage=100") }
      get("mine") { Self.response($0.headers[.authorization] ?? "nobody", "private, max-age=100") }
      get("account") { Self.response($0.headers[.authorization] ?? "nobody", "max-age=100") }
      get("etag") { request in
        let tag = HTTPField(name: .eTag, value: "\"1\"")
        guard request.headers[.ifNoneMatch] == nil else {
          return Self.response("", "no-cache", [tag], status: .notModified)
        }
        return Self.response("tagged", "no-cache", [tag])
      }
      get("stale") { _ in Self.response("stale", "max-age=0, stale-while-revalidate=100") }
      get("stream") { _ in
        Response(
          status: .ok, headers: [.cacheControl: "max-age=100"],
          body: ResponseBody { writer in
            for number in 0..<1_000 { try await writer.write(ByteBuffer(string: "\(number) ")) }
            try await writer.finish(nil)
          })
      }
      get("trailers") { _ in
        Response(
          status: .ok, headers: [.cacheControl: "max-age=100"],
          body: ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "hello"))
            try await writer.finish([.cacheControl: "no-store"])
          })
      }
      get("moved") { _ in
        Self.response("", "max-age=100", [.init(name: .location, value: "/all")], status: .found)
      }
      get("round") { _ in
        Self.response("", "no-store", [.init(name: .location, value: "/round")], status: .found)
      }
      addPackedRoutes(to: router, log)
      router.post("form") { request, _ in
        log.add("form")
        let body = try await request.body.collect(upTo: 1_000)
        return Self.response(
          String(buffer: body), "no-store", [.init(name: .location, value: "/echo")],
          status: .temporaryRedirect)
      }
      router.post("echo") { request, _ in
        log.add("echo")
        return Self.response(
          String(buffer: try await request.body.collect(upTo: 1_000)), "no-store")
      }
      return router
    }

    private func addPackedRoutes(to router: Router<BasicRequestContext>, _ log: Log) {
      func get(
        _ path: RouterPath, _ answer: @escaping @Sendable (Request) async throws -> Response
      ) {
        router.get(path) { request, _ in
          log.add(request.uri.string)
          return try await answer(request)
        }
      }
      get("packed") { request in
        guard request.headers[.acceptEncoding]?.contains("gzip") == true else {
          return Self.response(
            Self.plain, "max-age=100", [.init(name: .vary, value: "Accept-Encoding")])
        }
        return Self.packedResponse(Self.packed)
      }
      get("cut") { _ in Self.packedResponse(Self.packed.dropLast(14)) }
      for (number, coding) in Self.codings.enumerated() {
        get("coded\(number)") { _ in Self.packedResponse(Self.packed, coding: coding) }
      }
      get("packed-etag") { request in
        var response = Self.packedResponse(Self.packed)
        response.headers[.eTag] = "\"1\""
        response.headers[.cacheControl] = "no-cache"
        guard request.headers[.ifNoneMatch] == "\"1\"" else { return response }
        return Response(status: .notModified, headers: response.headers)
      }
      router.head("packed") { request, _ in
        log.add("HEAD packed")
        return Response(status: .ok, headers: Self.packedResponse(Self.packed).headers)
      }
      get("no-content") { _ in
        Response(status: .noContent, headers: Self.packedResponse(Self.packed).headers)
      }
    }

    /// Spellings of codings that AsyncHTTPClient decodes, or doesn't.
    private static let codings = [
      "gzip", "GZIP", "gzip, identity", "gzip ,gzip", "x-gzip", "\"gzip\"",
    ]

    private static func packedResponse(_ data: Data, coding: String = "gzip") -> Response {
      Response(
        status: .ok,
        headers: [
          .cacheControl: "max-age=100", .contentEncoding: coding, .vary: "Accept-Encoding",
        ],
        body: ResponseBody(byteBuffer: ByteBuffer(data: data)))
    }

    // MARK: The middleware

    private func withGateway(
      _ body: @Sendable (any TestClientProtocol, Log, HTTPCache) async throws -> Void
    ) async throws {
      let (log, cache) = (Log(), HTTPCache(configuration: .init(isShared: true)))
      let application = Application(router: router(log, cache))
      try await application.test(.live) { try await body($0, log, cache) }
    }

    private func get(
      _ client: any TestClientProtocol, _ uri: String, _ headers: HTTPFields = [:]
    ) async throws -> String {
      let response = try await client.execute(uri: uri, method: .get, headers: headers)
      return String(buffer: response.body)
    }

    @Test func `what is for all is asked for once`() async throws {
      try await withGateway { client, log, _ in
        for user in ["anna", "bob", nil] {
          let headers = user.map { [.authorization: $0] as HTTPFields } ?? [:]
          do {
            let text = try await get(client, "/all", headers)
            #expect(text == "for all")
          }
        }
        let reply = try await client.execute(uri: "/all", method: .get)
        #expect(
          reply.headers[try #require(HTTPField.Name("Cache-Status"))]?.contains("hit") == true)
        #expect(reply.headers[.age] != nil)
        #expect(log.all == ["/all"])
      }
    }

    @Test(arguments: ["/mine", "/account"])
    func `what is one user's is not for another`(uri: String) async throws {
      try await withGateway { client, log, _ in
        for user in ["anna", "bob", "anna"] {
          do {
            let text = try await get(client, uri, [.authorization: user])
            #expect(text == user)
          }
        }
        #expect(log.all == [uri, uri, uri])
      }
    }

    @Test func `a confirmation is not passed on`() async throws {
      try await withGateway { client, log, _ in
        for _ in 0..<3 {
          let text = try await get(client, "/etag")
          #expect(text == "tagged")
        }
        let known = try await client.execute(
          uri: "/etag", method: .get, headers: [.ifNoneMatch: "\"1\""])
        #expect(known.status == .notModified)
        #expect(log.all.count == 4)
      }
    }

    @Test func `a stale response is confirmed by its own request`() async throws {
      try await withGateway { client, log, _ in
        for _ in 0..<3 {
          let text = try await get(client, "/stale")
          #expect(text == "stale")
        }
        #expect(log.all.count == 3)
      }
    }

    @Test func `a streamed body is stored`() async throws {
      try await withGateway { client, log, _ in
        let whole = (0..<1_000).map { "\($0) " }.joined()
        for _ in 0..<3 {
          let text = try await get(client, "/stream")
          #expect(text == whole)
        }
        #expect(log.all == ["/stream"])
      }
    }

    @Test func `simultaneous requests call the route as often as needed`() async throws {
      try await withGateway { client, log, _ in
        try await withThrowingTaskGroup(of: String.self) { group in
          for _ in 0..<20 { group.addTask { try await get(client, "/all") } }
          for try await text in group { #expect(text == "for all") }
        }
        #expect(log.all == ["/all"])
      }
    }

    @Test func `other methods reach the route, and its errors the client`() async throws {
      try await withGateway { client, log, _ in
        let reply = try await client.execute(
          uri: "/echo", method: .post, body: ByteBuffer(string: "text"))
        #expect(String(buffer: reply.body) == "text")
        #expect(try await client.execute(uri: "/none", method: .get).status == .notFound)
        #expect(log.all == ["echo"])
      }
    }

    // MARK: The client

    private func withServer(
      _ body: @Sendable (CachingClient, URL, Log) async throws -> Void
    ) async throws {
      let log = Log()
      let application = Application(router: router(log))
      try await application.test(.live) { server in
        let client = CachingClient(cache: HTTPCache())
        let port = try #require(server.port)
        let url = try #require(URL(string: "http://localhost:\(port)"))
        do {
          try await body(client, url, log)
        } catch {
          try await client.shutdown()
          throw error
        }
        try await client.shutdown()
      }
    }

    private func load(
      _ path: String, _ client: CachingClient, _ url: URL, method: String = "GET",
      _ fields: HTTPCache.Fields = [:], body: String? = nil
    ) async throws -> String {
      let request = HTTPCache.Request(
        method: method, url: url.appending(path: path), fields: fields)
      let reply = try await client.execute(request, body: body.map { ByteBuffer(string: $0) })
      return String(decoding: try await reply.body.data(), as: UTF8.self)
    }

    @Test func `each response of a chain is stored under its own URL`() async throws {
      try await withServer { client, url, log in
        for _ in 0..<2 {
          let text = try await load("moved", client, url)
          #expect(text == "for all")
        }
        do {
          let text = try await load("all", client, url)
          #expect(text == "for all")
        }
        // The target is fresh for shared caches alone, and has no validator.
        #expect(log.all == ["/moved", "/all", "/all", "/all"])
        #expect(client.cache.storedURLs.count == 2)
        await #expect(throws: (any Error).self) { try await load("round", client, url) }
      }
    }

    @Test func `a redirect sends the body again`() async throws {
      try await withServer { client, url, log in
        do {
          let text = try await load("form", client, url, method: "POST", body: "text")
          #expect(text == "text")
        }
        #expect(log.all == ["form", "echo"])
      }
    }

    @Test func `a decoded body is stored decoded, and not cut`() async throws {
      try await withServer { client, url, log in
        for _ in 0..<2 {
          let text = try await load("packed", client, url)
          #expect(text == Self.plain)
        }
        #expect(log.all == ["/packed"])
        let request = HTTPCache.Request(url: url.appending(path: "packed"))
        let reply = try await client.execute(request)
        #expect(reply.response.fields["Content-Encoding"] == nil)
        #expect(reply.response.fields["Content-Length"].map { $0 == "240" } ?? true)
        _ = try await reply.body.data()
        _ = try await load("packed", client, url, ["Range": "bytes=1-4"])
        #expect(log.all == ["/packed", "/packed"])
        do {
          let text = try await load("packed", client, url, ["Accept-Encoding": "identity"])
          #expect(text == Self.plain)
        }
        #expect(log.all == ["/packed", "/packed", "/packed"])
      }
    }

    @Test func `a compressed body that ends too early is an error, and not stored`() async throws {
      try await withServer { client, url, log in
        for _ in 0..<2 {
          await #expect(throws: (any Error).self) { try await load("cut", client, url) }
        }
        #expect(log.all.count == 2)
        #expect(client.cache.storedURLs.isEmpty)
      }
    }

    // AsyncHTTPClient decoded `GZIP` as well, and the response said that it was still coded.
    @Test func `a body is decoded, or its fields name its coding`() async throws {
      try await withServer { client, url, log in
        for number in Self.codings.indices {
          for _ in 0..<2 {
            let request = HTTPCache.Request(url: url.appending(path: "coded\(number)"))
            let reply = try await client.execute(request)
            let body = try await reply.body.data()
            let isDecoded = reply.response.fields["Content-Encoding"] == nil
            #expect(body == (isDecoded ? Data(Self.plain.utf8) : Self.packed), "\(number)")
            #expect(reply.response.fields["Content-Length"].map { $0 == "\(body.count)" } ?? true)
          }
        }
        #expect(log.all.count == Self.codings.count)
      }
    }

    // Its decoder took a body that isn't sent for one that ends too early.
    @Test func `a response without a body may name a coding`() async throws {
      try await withServer { client, url, log in
        let head = try await load("packed", client, url, method: "HEAD")
        #expect(head == "")
        let none = try await load("no-content", client, url)
        #expect(none == "")
        for _ in 0..<3 {
          let text = try await load("packed-etag", client, url)
          #expect(text == Self.plain)
        }
        #expect(
          log.all == ["HEAD packed", "/no-content"] + Array(repeating: "/packed-etag", count: 3))
      }
    }

    // URLSession on Linux ends the process.
    @Test func `a response with trailers is stored without them`() async throws {
      try await withServer { client, url, log in
        for _ in 0..<2 {
          let text = try await load("trailers", client, url)
          #expect(text == "hello")
        }
        #expect(log.all == ["/trailers"])
      }
    }
  }
#endif
