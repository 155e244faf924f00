import AsyncAlgorithms
public import Foundation
import HTTPTypes
public import Hummingbird
public import SteadCaches

/// Answers requests to a Hummingbird router from an HTTP cache.
///
/// ```swift
/// let cache = HTTPCache(named: "gateway", in: directories, configuration: .init(isShared: true))
/// router.add(middleware: CacheMiddleware(cache: cache))
/// ```
///
/// Routes say by `Cache-Control` what may be stored, and for whom: the cache should be a shared one, since it answers all
/// users. Equal requests at the same time call the route once.
///
/// A route can only be called as long as the middleware runs. So a stale response within `stale-while-revalidate` waits
/// for its revalidation, unlike one of a client.
public struct CacheMiddleware<Context: RequestContext>: RouterMiddleware {
  /// Where responses are looked up and stored.
  public let cache: HTTPCache
  private let scheme: String

  /// - Parameter scheme: The scheme of the URLs under which responses are stored.
  public init(cache: HTTPCache, scheme: String = "https") {
    (self.cache, self.scheme) = (cache, scheme)
  }

  public func handle(
    _ request: Request, context: Context,
    next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    guard let question = HTTPCache.Request(request, scheme: scheme) else {
      return try await next(request, context)
    }
    while true {
      do {
        let reply = try await reply(to: question) { try await next(request.asking($0), context) }
        return Response(reply)
      } catch is Questions.Unanswered {
        // The request that asked for this one, too, was cancelled.
        try Task.checkCancellation()
      }
    }
  }

  /// Asks the cache in one task, and calls the route in this one when the cache wants to.
  private func reply(
    to request: HTTPCache.Request, answer: (HTTPCache.Request) async throws -> Response
  ) async throws -> HTTPCache.Reply {
    let (questions, cache) = (Questions(), cache)
    defer { questions.end() }
    return try await withThrowingTaskGroup(of: HTTPCache.Reply.self) { group in
      group.addTask {
        defer { questions.end() }
        let reply = try await cache.response(to: request) { try await questions.ask($0) }
        if reply.outcome.source == .stale { await cache.finishRevalidations() }
        return reply
      }
      for await question in questions.all {
        do {
          let response = try await answer(question.request)
          question.answer(
            .success((HTTPCache.Response(response), HTTPCache.Body(BodyChunks(response.body)))))
        } catch {
          question.answer(.failure(error))
        }
      }
      guard let reply = try await group.next() else { throw Questions.Unanswered() }
      return reply
    }
  }
}

// MARK: Messages

extension HTTPCache.Request {
  /// A router's request; nil if it has no path.
  init?(_ request: Request, scheme: String) {
    let authority = request.head.authority ?? "localhost"
    guard let path = request.head.path, let url = URL(string: "\(scheme)://\(authority)\(path)")
    else { return nil }
    let length = request.headers[.contentLength].flatMap { Int($0) } ?? 0
    self.init(
      method: request.method.rawValue, url: url,
      fields: HTTPCache.Fields(request.headers.map { ($0.name.rawName, $0.value) }),
      hasBody: length > 0 || request.headers.contains(.transferEncoding))
  }
}

extension Request {
  /// The same request with the fields that the cache sends.
  func asking(_ question: HTTPCache.Request) -> Request {
    var head = head
    head.headerFields = HTTPFields(question.fields)
    return Request(head: head, body: body)
  }
}

extension HTTPFields {
  init(_ fields: HTTPCache.Fields) {
    self.init()
    for field in fields {
      if let name = HTTPField.Name(field.name) { append(HTTPField(name: name, value: field.value)) }
    }
  }
}

extension HTTPCache.Response {
  init(_ response: Response) {
    self.init(
      status: response.status.code,
      fields: HTTPCache.Fields(response.headers.map { ($0.name.rawName, $0.value) }))
  }
}

extension Response {
  init(_ reply: HTTPCache.Reply) {
    var headers = HTTPFields(reply.response.fields)
    if let name = HTTPField.Name("Cache-Status") { headers[name] = reply.outcome.cacheStatus() }
    let body: ResponseBody
    if let data = reply.body.bytes {
      body = ResponseBody(byteBuffer: ByteBuffer(bytes: data))
    } else {
      let length = headers[.contentLength].flatMap { Int($0) }
      body = ResponseBody(contentLength: length) { writer in
        for try await chunk in reply.body { try await writer.write(ByteBuffer(bytes: chunk)) }
        try await writer.finish(nil)
      }
    }
    self.init(status: .init(code: reply.response.status), headers: headers, body: body)
  }
}
