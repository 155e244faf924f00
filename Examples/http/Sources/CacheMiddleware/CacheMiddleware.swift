#if Server
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
  /// until the route has answered its revalidation, unlike one of a client. If a request is cancelled whose route others wait
  /// for, they call the route themselves.
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
        let reply = try await reply(to: question) { try await next(request.asking($0), context) }
        if let reply { return Response(reply) }
      }
    }

    /// Asks the cache in one task, and calls the route in this one when the cache wants to.
    ///
    /// - Returns: Nil if another request asked for this one, too, and was cancelled.
    private func reply(
      to request: HTTPCache.Request, answer: (HTTPCache.Request) async throws -> Response
    ) async throws -> HTTPCache.Reply? {
      let (questions, cache) = (Questions(), cache)
      return try await withThrowingTaskGroup(of: HTTPCache.Reply.self) { group in
        group.addTask {
          defer { questions.end() }
          let reply = try await cache.response(to: request) { try await questions.ask($0) }
          await reply.waitForRevalidation()
          return reply
        }
        var failure: (any Error)?
        for await question in questions.all {
          do {
            let response = try await answer(question.request)
            // A cancelled route answers what it likes. Others would get that, or a stale response as if the route had failed. What
            // an unsafe method has changed has changed all the same.
            if ["GET", "HEAD"].contains(request.method) { try Task.checkCancellation() }
            question.answer(
              .success((HTTPCache.Response(response), HTTPCache.Body(BodyChunks(response.body)))))
          } catch {
            failure = error
            question.answer(.failure(Task.isCancelled ? CancellationError() : error))
          }
        }
        // A cancelled task gets no more questions. The cache may still ask for others.
        questions.end()
        do {
          return try await group.next()
        } catch is CancellationError {
          try Task.checkCancellation()
          // The route may have thrown it by itself.
          if let failure { throw failure }
          return nil
        }
      }
    }
  }
#endif
