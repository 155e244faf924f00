#if Server
  import CacheMiddleware
  import HTTPTypes
  import Hummingbird
  import Logging
  import NIOEmbedded
  import SteadCaches
  import Synchronization

  /// A middleware that is called without a server, so that a test decides what it is sent and when its task is cancelled.
  struct Middleware: Sendable {
    typealias Route = @Sendable (Request) async throws -> Response

    let cache: HTTPCache

    init(_ cache: HTTPCache = HTTPCache(configuration: .init(isShared: true))) {
      self.cache = cache
    }

    func answer(
      _ path: String, authority: String? = "example.com",
      body: RequestBody = .init(buffer: .init()),
      _ route: @escaping Route
    ) async throws -> Response {
      let head = HTTPRequest(method: .get, scheme: nil, authority: authority, path: path)
      return try await answer(Request(head: head, body: body), route)
    }

    func answer(_ request: Request, _ route: @escaping Route) async throws -> Response {
      let source = ApplicationRequestContextSource(
        channel: NIOAsyncTestingChannel(), logger: Logger(label: "test"))
      return try await CacheMiddleware(cache: cache).handle(
        request, context: BasicRequestContext(source: source)
      ) { request, _ in try await route(request) }
    }
  }

  extension Response {
    /// What a route answers.
    init(
      _ text: String, _ control: String, _ fields: HTTPFields = [:],
      status: HTTPResponse.Status = .ok
    ) {
      var fields = fields
      fields[.cacheControl] = control
      self.init(
        status: status, headers: fields, body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    var text: String {
      get async throws {
        let text = Text()
        try await body.write(text)
        return text.all.withLock { $0 }
      }
    }

    private final class Text: ResponseBodyWriter, Sendable {
      let all = Mutex("")
      func write(_ buffer: ByteBuffer) async throws {
        all.withLock { $0 += String(buffer: buffer) }
      }
      func finish(_ trailers: HTTPFields?) async throws {}
    }
  }
#endif
