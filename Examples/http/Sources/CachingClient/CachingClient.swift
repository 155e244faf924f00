#if Server
  public import AsyncHTTPClient
  import Foundation
  public import NIOCore
  import NIOFoundationCompat
  import NIOHTTP1
  public import SteadCaches

  /// AsyncHTTPClient with an HTTP cache.
  ///
  /// ```swift
  /// let client = CachingClient(cache: HTTPCache(named: "responses", in: directories))
  /// let reply = try await client.execute(HTTPCache.Request(url: url))
  /// let data = try await reply.body.data()
  /// try await client.shutdown()
  /// ```
  ///
  /// Each response of a chain of redirects is looked up and stored under its own URL, so AsyncHTTPClient must not follow
  /// redirects itself. It decodes `gzip` and `deflate`, and says so neither in the fields nor elsewhere: what it decodes is
  /// marked here (`Response.isDecoded`), since ranges and lengths count encoded bytes. A compressed body that ends too early
  /// is an error of its decoder's, so the part isn't stored. A body comes at the reader's pace.
  public struct CachingClient: Sendable {
    /// The largest body of a decoded response, as a multiple of the encoded one's.
    public static let decodingRatio = 1_000
    /// The codings that AsyncHTTPClient decodes, in lower case.
    private static let decodedCodings: Set<String> = ["gzip", "deflate"]

    /// Where responses are looked up and stored.
    public let cache: HTTPCache
    private let client: HTTPClient
    private let timeout: TimeAmount

    /// Makes a client of its own, which ``shutdown()`` ends.
    ///
    /// - Parameters:
    ///   - configuration: What the client is made with, except for redirects and decoding.
    ///   - timeout: How long a response's head may take.
    public init(
      cache: HTTPCache, configuration: HTTPClient.Configuration = .init(),
      timeout: TimeAmount = .seconds(30)
    ) {
      var configuration = configuration
      configuration.redirectConfiguration = .disallow
      configuration.decompression = .enabled(limit: .ratio(Self.decodingRatio))
      client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
      self.cache = cache
      self.timeout = timeout
    }

    /// Ends the client's connections.
    public func shutdown() async throws { try await client.shutdown() }

    /// The response to a request, from the cache or from the server, behind all redirects.
    ///
    /// - Parameter body: The request's body; a redirect may send it again.
    /// - Throws: What AsyncHTTPClient throws, also for too many redirects, and `HTTPCacheError`.
    public func execute(
      _ request: HTTPCache.Request, mode: HTTPCache.Mode = .standard, body: ByteBuffer? = nil
    ) async throws -> HTTPCache.Reply {
      var redirects = Redirects(request, body: body)
      while true {
        let (body, request) = (redirects.body, redirects.request)
        let reply = try await cache.response(to: request, mode: mode) { question in
          try await send(question, body)
        }
        guard try redirects.follow(reply.response) else { return reply }
        // A response is stored once its body has arrived.
        await redirects.finish(reply.body)
      }
    }

    private func send(
      _ question: HTTPCache.Request, _ body: ByteBuffer?
    ) async throws -> (HTTPCache.Response, HTTPCache.Body) {
      var request = HTTPClientRequest(url: question.url.absoluteString)
      request.method = HTTPMethod(rawValue: question.method)
      request.headers = HTTPHeaders(question.fields.map { ($0.name, $0.value) })
      request.body = body.map { .bytes($0) }
      let response = try await client.execute(request, timeout: timeout)
      guard Self.hasBody(response, to: question) else {
        // The decoder takes an absent body for one that ended too early; this error, too, ends the exchange.
        do { for try await _ in response.body {} } catch {}
        return (Self.head(of: response), HTTPCache.Body())
      }
      return (Self.head(of: response), HTTPCache.Body(response.body.map { Data(buffer: $0) }))
    }

    /// Whether the response has a body, whatever its fields say (RFC 9112, 6.3).
    private static func hasBody(
      _ response: HTTPClientResponse, to question: HTTPCache.Request
    ) -> Bool {
      question.method != "HEAD" && ![.noContent, .notModified].contains(response.status)
    }

    private static func head(of response: HTTPClientResponse) -> HTTPCache.Response {
      var head = HTTPCache.Response(
        status: Int(response.status.code), reason: response.status.reasonPhrase,
        fields: HTTPCache.Fields(response.headers.map { ($0.name, $0.value) }))
      // As its decoder looks at it: the first member decides, in any case.
      if let coding = response.headers[canonicalForm: "Content-Encoding"].first?.lowercased(),
        decodedCodings.contains(coding)
      {
        head.fields["Content-Encoding"] = nil
        head.fields["Content-Length"] = nil
        head.isDecoded = true
      }
      return head
    }
  }
#endif
