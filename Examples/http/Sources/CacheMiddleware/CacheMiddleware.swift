import AsyncAlgorithms
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
/// Requests whose host and target don't make a URL exactly as they are spelled, with brackets or spaces for example, reach the
/// route and are neither looked up nor stored. A GET's body reaches the route only if a field announces it, as HTTP/1.1
/// demands.
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
