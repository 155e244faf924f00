public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

// Not run on Apple's systems here, where URLSession has its own cache; it compiles there.
extension URLSession {
  /// Returns the whole body and the response to a request, from a cache or from the server.
  ///
  /// ```swift
  /// let cache = HTTPCache(named: "responses", in: try AppDirectories(id: "com.example.app"))
  /// let (data, response) = try await URLSession.shared.data(for: URLRequest(url: url), cache: cache)
  /// ```
  ///
  /// The request's `cachePolicy` decides how the cache is used, as `HTTPCache.Mode.init(_:)`
  /// describes. If it is `.useProtocolCachePolicy`, the session's `requestCachePolicy` does. A URL
  /// that isn't an HTTP URL is loaded without the cache.
  ///
  /// Each response of a chain of redirects is cached separately. Fields with credentials, the
  /// request's and those of the session's `httpAdditionalHeaders`, are not sent once a redirect led
  /// to another origin. Requests are sent through a second session with this one's configuration;
  /// this session's delegate is only called for authentication. `invalidateAndCancel()` has no
  /// effect on them: cancel the task that awaits the call.
  ///
  /// - Parameters:
  ///   - cache: Where responses are looked up and stored. Sessions of one user can share it. Those
  ///     with different cookies or client certificates get each other's responses from it; `Vary:
  ///     Cookie` prevents that for cookies.
  ///   - followsRedirects: Whether a redirect is followed or returned as the response.
  /// - Throws: `URLError`, as the session does without a cache: `.resourceUnavailable` for a
  ///   request with `.returnCacheDataDontLoad` that has no stored response,
  ///   `.notConnectedToInternet` if the cache is offline, `.httpTooManyRedirects` after
  ///   ``HTTPCache/redirectLimit`` of them. `CancellationError` if the task is cancelled.
  public func data(
    for request: URLRequest, cache: HTTPCache, followsRedirects: Bool = true
  ) async throws -> (Data, URLResponse) {
    guard request.isHTTP else { return try await data(for: request) }
    let (reply, response) = try await self.reply(
      for: request, cache: cache, followsRedirects: followsRedirects)
    return (try await reply.body.data(), response)
  }

  /// Returns the body of a response, to be read in chunks, and the response.
  ///
  /// ```swift
  /// let (chunks, response) = try await session.chunks(for: request, cache: cache)
  /// for try await chunk in chunks { try file.write(contentsOf: chunk) }
  /// ```
  ///
  /// The call returns when the head of the response has arrived. URLSession can't slow a transfer
  /// down: chunks that arrive faster than they are read wait in memory, at most the whole body, and
  /// are freed with the body or its reader's task. The session's `invalidateAndCancel()` doesn't
  /// end the transfer: cancel the task that reads, or drop the body.
  ///
  /// Otherwise works like `data(for:cache:followsRedirects:)`.
  ///
  /// - Throws: The same errors; `URLError(.unsupportedURL)` for a URL that isn't an HTTP URL.
  ///   Reading throws the error that ends the transfer, and ``HTTPCacheError`` if a body from the
  ///   server is read a second time.
  public func chunks(
    for request: URLRequest, cache: HTTPCache, followsRedirects: Bool = true
  ) async throws -> (HTTPCache.Body, URLResponse) {
    let (reply, response) = try await self.reply(
      for: request, cache: cache, followsRedirects: followsRedirects)
    return (reply.body, response)
  }

  /// Returns the cache's reply to a request, with what the cache did, and the same response as
  /// Foundation's.
  ///
  /// ```swift
  /// let (reply, _) = try await session.reply(for: request, cache: cache)
  /// print(reply.outcome.source)  // hit
  /// ```
  ///
  /// Works like `chunks(for:cache:followsRedirects:)`, also in that the session's
  /// `invalidateAndCancel()` has no effect: cancel the task.
  ///
  /// - Throws: The same errors.
  public func reply(
    for request: URLRequest, cache: HTTPCache, followsRedirects: Bool = true
  ) async throws -> (HTTPCache.Reply, URLResponse) {
    guard request.isHTTP else { throw URLError(.unsupportedURL, url: request.url) }
    // Read once: on Apple's systems each read is a copy.
    let configuration = configuration
    var request = request
    if request.cachePolicy == .useProtocolCachePolicy {
      request.cachePolicy = configuration.requestCachePolicy
    }
    var chain = RedirectChain(request)
    while true {
      let reply = try await self.reply(to: chain, configuration, cache: cache)
      guard followsRedirects, try chain.follow(reply.response) else {
        // With the URL of the last request, and not the caller's: links in the body are relative to
        // it.
        return (reply, try reply.response.foundationResponse(from: chain.request.url))
      }
      // Read before the next request, so that a redirect is stored, and its connection free.
      await RedirectChain.finish(reply.body)
      // `finish` swallows errors, and a cancellation with them.
      try Task.checkCancellation()
    }
  }

  /// The reply to a chain's current request, which may be a redirect.
  private func reply(
    to chain: RedirectChain, _ configuration: URLSessionConfiguration, cache: HTTPCache
  ) async throws -> HTTPCache.Reply {
    let request = chain.request
    let outgoing = try OutgoingRequest(
      request, configuration: configuration, hasLeftOrigin: chain.hasLeftOrigin)
    do {
      return try await cache.response(
        to: outgoing.request, mode: HTTPCache.Mode(request.cachePolicy)
      ) { sent in
        // Only here: a stored response needs no transport, whose session then isn't made for it.
        let transport = SessionTransport.of(self)
        let (response, body) = try await transport.send(outgoing.urlRequest(sending: sent))
        let isWanted = SessionTransport.isWantedWhole(
          response, to: sent, limit: cache.limits.bufferSizeLimit)
        return (response, isWanted ? HTTPCache.Body(try await body.data()) : body)
      }
    } catch let error as HTTPCacheError {
      throw URLError(error, url: request.url)
    }
  }
}

extension SessionTransport {
  /// Whether a body is read completely before it is returned: that of a POST's response that a
  /// later GET may get (RFC 9110, 9.3.3), since the cache stores no body of a POST that is still
  /// being received.
  static func isWantedWhole(
    _ response: HTTPCache.Response, to request: HTTPCache.Request, limit: Int
  ) -> Bool {
    guard request.method == "POST", response.fields.contains("Content-Location"),
      let length = response.fields.bodyLength.count
    else { return false }
    return length <= limit
  }
}

extension URLRequest {
  fileprivate var isHTTP: Bool {
    let scheme = url?.scheme?.lowercased()
    return scheme == "http" || scheme == "https"
  }
}

extension URLError {
  fileprivate init(_ code: Code, url: URL?) {
    self.init(code, userInfo: url.map { [NSURLErrorFailingURLErrorKey: $0] } ?? [:])
  }

  /// The error that URLSession throws if the cache has no response.
  fileprivate init(_ error: HTTPCacheError, url: URL?) {
    var info: [String: Any] = [
      NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.message,
    ]
    if let url { info[NSURLErrorFailingURLErrorKey] = url }
    self.init(
      error.code == .offline ? .notConnectedToInternet : .resourceUnavailable, userInfo: info)
  }
}
