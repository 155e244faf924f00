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

// MARK: - Redirects

extension HTTPCache {
  /// The maximum number of redirects that are followed for one request, as in URLSession.
  public static let redirectLimit = 20
  /// The maximum number of bytes of a redirect's body that are read before it is followed. A
  /// redirect with a longer body may not be stored.
  public static let redirectBodyLimit = 64 << 10
}

/// Decides which request follows a redirect (RFC 9110, 15.4): a value that does no I/O.
///
/// Here and not in URLSession, since each response of a chain is looked up in the cache.
struct RedirectChain {
  /// Fields for one origin only: credentials, and its name. Sent to another one they would leak.
  private static let ofOrigin = ["Authorization", "Cookie", "Host", "Proxy-Authorization"]
  /// Fields of a request's body, which go with it when a redirect turns a POST into a GET.
  private static let ofBody = [
    "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Type",
    "Transfer-Encoding",
  ]

  /// The request to send next, or the one that was answered last.
  private(set) var request: URLRequest
  /// Whether a redirect led to another origin than the first one's. Stays true when a later one
  /// leads back: the other origin decided where, so its choice must not be made with the user's
  /// credentials.
  private(set) var hasLeftOrigin = false
  private var count = 0

  init(_ request: URLRequest) { self.request = request }

  /// Follows a response; returns whether it is a redirect, and then ``request`` is the next one.
  ///
  /// - Throws: `URLError`: `.httpTooManyRedirects` after ``HTTPCache/redirectLimit`` of them,
  ///   `.unsupportedURL` if the new URL isn't an HTTP URL, `.requestBodyStreamExhausted` if a body
  ///   that is a stream would have to be sent again.
  mutating func follow(_ response: HTTPCache.Response) throws -> Bool {
    guard Self.redirects.contains(response.status), let url = request.url,
      let location = response.fields["Location"], let target = Self.resolve(location, url)
    else { return false }
    guard ["http", "https"].contains(target.scheme?.lowercased()) else {
      throw URLError(.unsupportedURL)
    }
    guard count < HTTPCache.redirectLimit else { throw URLError(.httpTooManyRedirects) }
    // By number and not by the URLs seen: a loop may add to its query each time.
    count += 1
    var next = request
    next.url = target
    if Self.becomesGet(response.status, request.httpMethod ?? "GET") {
      next.httpMethod = "GET"
      next.httpBody = nil
      next.httpBodyStream = nil
      // They describe the body that is no longer sent (RFC 9110, 15.4).
      for name in Self.ofBody { next.setValue(nil, forHTTPHeaderField: name) }
    }
    // A 307 or 308 repeats the body, and a stream was read by the first request.
    guard next.httpBodyStream == nil else { throw URLError(.requestBodyStreamExhausted) }
    if !Self.isSameOrigin(url, target) {
      // Removed from the chain's request, so that no later step sends them either.
      hasLeftOrigin = true
      for name in Self.ofOrigin { next.setValue(nil, forHTTPHeaderField: name) }
    }
    request = next
    return true
  }

  /// Whether a field must not be sent to another origin.
  static func belongsToOrigin(_ name: String) -> Bool {
    ofOrigin.contains { $0.isSameFieldName(as: name) }
  }

  /// Reads the body of a redirect that is followed, since a response is only stored once its body
  /// is complete. A body that is longer than the limit, or breaks off, is merely not stored.
  static func finish(_ body: HTTPCache.Body) async {
    var count = 0
    do {
      for try await chunk in body {
        count += chunk.count
        if count > HTTPCache.redirectBodyLimit { return }
      }
      // The redirect's head is complete, so it is followed all the same.
    } catch {}
  }

  private static let redirects = [301, 302, 303, 307, 308]

  private static func becomesGet(_ status: Int, _ method: String) -> Bool {
    // User agents change a POST after a 301 or 302 for historical reasons (RFC 9110, 15.4.2 and
    // 15.4.3).
    switch status {
    case 301, 302: method == "POST"
    case 303: method != "GET" && method != "HEAD"
    default: false
    }
  }

  private static func resolve(_ location: String, _ url: URL) -> URL? {
    guard let target = URL(string: location, relativeTo: url)?.absoluteURL else { return nil }
    // A target without a fragment inherits that of the request's URL (RFC 9110, 10.2.2).
    guard target.fragment == nil, let fragment = url.fragment,
      var parts = URLComponents(url: target, resolvingAgainstBaseURL: true)
    else { return target }
    parts.fragment = fragment
    return parts.url ?? target
  }

  private static func isSameOrigin(_ one: URL, _ other: URL) -> Bool {
    func origin(_ url: URL) -> [String] {
      // With the default port, since `https://a.example` and `https://a.example:443` are one origin
      // (RFC 9110, 4.3.1).
      let scheme = url.scheme?.lowercased() ?? ""
      let port = url.port ?? (scheme == "https" ? 443 : 80)
      return [scheme, url.host?.lowercased() ?? "", String(port)]
    }
    return origin(one) == origin(other)
  }
}
