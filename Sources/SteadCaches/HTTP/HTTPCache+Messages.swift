public import Foundation

extension HTTPCache {
  /// A client's request, as far as a cache is concerned.
  ///
  /// The body isn't part of it: the closure that fetches sends it.
  public struct Request: Sendable, Hashable {
    /// The method, such as `GET`, which is case-sensitive.
    public var method: String
    /// The URL, with scheme and host; the fragment has no meaning for a cache.
    public var url: URL
    /// The header fields, which must include all that the server's answer can depend on.
    public var fields: Fields
    /// Whether the request has a body. Requests with one are never answered from the cache.
    public var hasBody: Bool

    /// Makes a request.
    public init(
      method: String = "GET", url: URL, fields: Fields = [:], hasBody: Bool = false
    ) {
      self.method = method
      self.url = url
      self.fields = fields
      self.hasBody = hasBody
    }
  }

  /// The head of a server's final response.
  public struct Response: Sendable, Hashable {
    /// The status code, such as 200.
    public var status: Int
    /// The reason phrase, which only HTTP/1.1 has.
    public var reason: String?
    /// The header fields.
    public var fields: Fields
    /// Whether the client has decoded the body's `Content-Encoding` and removed that field. The server's `ETag` and
    /// ranges are those of the encoded body, so no ranges are cut from a decoded one. False by default.
    public var isDecoded = false

    /// Makes a head of a response.
    public init(status: Int, reason: String? = nil, fields: Fields = [:]) {
      self.status = status
      self.reason = reason
      self.fields = fields
    }
  }

  /// A response as the cache returns it to its caller.
  public struct Reply: Sendable {
    /// The head, with an `Age` if the response was stored.
    public var response: Response
    /// The body.
    public var body: Body
    /// What the cache did for it.
    public var outcome: Outcome
    /// The bytes of the body that the server did not send.
    var savedSize = 0
    /// What this reply's request began in the background.
    var revalidation: Revalidation?

    /// Makes a reply.
    public init(response: Response, body: Body, outcome: Outcome) {
      self.response = response
      self.body = body
      self.outcome = outcome
    }

    /// Waits until the server has answered what this reply's request asked it in the background
    /// (`stale-while-revalidate`), or has failed. The request's `fetch` isn't called any more then.
    ///
    /// It is for a `fetch` that can't outlive its caller, for example one that calls a server's route:
    ///
    /// ```swift
    /// let reply = try await cache.response(to: request) { try await route($0) }
    /// await reply.waitForRevalidation()
    /// return reply  // `route` isn't called after this.
    /// ```
    ///
    /// It returns at once if the request asked nothing in the background, also since another request has already asked the
    /// same, and when the task is cancelled. The answer's body may still be on its way; it is stored once it has come
    /// (``HTTPCache/finishRevalidations()`` waits for it). If the response is removed first, nothing is asked.
    public func waitForRevalidation() async { await revalidation?.isAnswered.wait() }
  }
}
