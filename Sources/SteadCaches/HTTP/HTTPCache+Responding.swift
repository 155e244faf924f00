import Foundation

extension HTTPCache {
  /// The response to a request: a stored one, or the server's.
  ///
  /// The server's response is stored while its body is read, if it may be stored at all. It is not stored if the body
  /// breaks off, or if its length differs from its `Content-Length`.
  ///
  /// - Parameters:
  ///   - mode: How this request uses the cache.
  ///   - fetch: Sends a request to the server. It runs in a separate task if equal requests may share its response; that
  ///     task is cancelled when nobody waits for it any more. Otherwise it runs in this call's task. It may also run
  ///     after this call returned, to revalidate the response that was used (``Reply/waitForRevalidation()``).
  /// - Throws: What `fetch` throws; ``HTTPCacheError`` if only a stored response may be used, and there is none;
  ///   `CancellationError` if the task is cancelled.
  public func response(
    to request: Request, mode: Mode = .standard, fetch: @escaping Fetch
  ) async throws -> Reply {
    let reply = try await answer(request, mode, fetch)
    counts.withLock { $0.count(reply) }
    return reply
  }

  private func answer(_ request: Request, _ mode: Mode, _ fetch: @escaping Fetch) async throws
    -> Reply
  {
    guard let key = self.key(request.url) else {
      if let code = CacheDecision.refusal(mode, isOffline: isOffline) {
        throw HTTPCacheError(code, for: request)
      }
      return try await handOn(request, under: nil, mode, fetch)
    }
    var following = Following()
    var lost: Set<String> = []
    while true {
      let decision = decide(for: request, under: key, mode: mode, without: lost)
      switch decision {
      case .use(let stored, let isStale):
        if let reply = reply(
          stored, to: request, under: key, as: isStale ? .stale : .hit, isShared: following.hasBegun
        ) {
          return reply
        }
        lost.insert(stored.id)
      case .useAndRevalidate(let stored, let question):
        if var reply = reply(
          stored, to: request, under: key, as: .stale, isShared: following.hasBegun)
        {
          reply.revalidation = revalidate(
            stored,
            Exchange(
              flight: flight(of: request, under: key, mode), question: question, stored: stored,
              fetch: fetch, isInBackground: true))
          return reply
        }
        lost.insert(stored.id)
      case .bypass: return try await handOn(request, under: key, mode, fetch)
      case .unavailable: return unavailable()
      case .fail(let code): throw HTTPCacheError(code, for: request)
      case .ask(let question, let stored):
        let exchange = Exchange(
          flight: flight(of: request, under: key, mode), question: question, stored: stored,
          fetch: fetch)
        guard !following.isOver, exchange.isShareable else { return try await alone(exchange) }
        let landing = try await shared(exchange)
        if let reply = landing.claim() { return reply }
        let fate = try await landing.fate()
        if let reply = staleReply(after: fate, exchange) { return reply }
        try following.end(with: fate)
      }
    }
  }

  /// The stale response that a request gets that waited for an equal one, when the server has failed that.
  ///
  /// Without it each of them would ask a server that doesn't work, and wait for it once more.
  private func staleReply(after fate: Landing.Fate, _ exchange: Exchange) -> Reply? {
    guard case .failed = fate, let stored = exchange.stored,
      Reception.mayUseStale(stored, for: exchange.request, settings.withLock { $0 }, now: now())
    else { return nil }
    return reply(
      stored, to: exchange.request, under: exchange.flight.key, as: .stale, hasFailed: true,
      isShared: true)
  }

  /// What a request has learned that waited for the response to an equal one.
  private struct Following {
    /// Whether it has waited.
    private(set) var hasBegun = false
    /// Whether the request is sent for itself alone if no stored response answers it.
    private(set) var isOver = false
    private var hasBrokenOff = false

    /// One body that breaks off or doesn't come on is asked for again by one request for all.
    ///
    /// - Throws: What broke off the second one, if the first broke off, too.
    mutating func end(with fate: Landing.Fate) throws {
      let isFirst = !hasBegun
      hasBegun = true
      switch fate {
      case .stored, .unusable, .failed: isOver = true
      case .stalled: isOver = !isFirst
      case .brokenOff(let error):
        if hasBrokenOff, let error { throw error }
        hasBrokenOff = true
        isOver = !isFirst
      }
    }
  }

  /// A stored response to a request, however old it is; nil if there is none. The server isn't asked.
  public func storedResponse(to request: Request) -> Reply? {
    guard let key = self.key(request.url) else { return nil }
    var lost: Set<String> = []
    while case .use(let stored, let isStale) = decide(
      for: request, under: key, mode: .onlyStored, without: lost)
    {
      if let reply = reply(stored, to: request, under: key, as: isStale ? .stale : .hit) {
        return reply
      }
      lost.insert(stored.id)
    }
    return nil
  }

  /// Whether the server still has to be asked, by what is stored now.
  func asks(_ exchange: Exchange) -> Bool {
    let flight = exchange.flight
    let decision = decide(for: exchange.request, under: flight.key, mode: flight.mode, without: [])
    switch decision {
    case .use(let stored, _):
      // The body may be what was lost.
      return store.body(of: stored, at: 0..<0, for: flight.key) == nil
    default: return true
    }
  }

  private func decide(
    for request: Request, under key: CacheKey, mode: Mode, without lost: Set<String>
  ) -> CacheDecision {
    var stored = store.responses(for: key)
    if !lost.isEmpty { stored.removeAll { lost.contains($0.id) } }
    return .make(
      for: request, mode: mode, settings.withLock { $0 }, stored: stored, now: now())
  }

  /// The reply of a stored response; nil if its body is gone.
  func reply(
    _ stored: StoredResponse, to request: Request, under key: CacheKey, as source: Outcome.Source,
    forwardStatus: Int? = nil, hasFailed: Bool = false, isShared: Bool = false
  ) -> Reply? {
    let moment = now()
    let answer = StoredAnswer(stored, to: request, now: moment)
    guard let body = store.body(of: stored, at: answer.positions, for: key) else { return nil }
    var outcome = Outcome(source: source, age: answer.age)
    // A program may say that responses are fresh for longer than an integer can count.
    let longest = TimeInterval(CacheControl.longest)
    let rest = stored.freshness.rest(at: moment, assuming: defaultLifetime).rounded(.down)
    outcome.freshness = Int(min(max(rest, -longest), longest))
    outcome.forwardStatus = forwardStatus
    outcome.hasFailed = hasFailed
    outcome.isShared = isShared
    var reply = Reply(response: answer.response, body: body, outcome: outcome)
    reply.savedSize = answer.positions.count
    return reply
  }

  private func unavailable() -> Reply {
    let response = Response(
      status: HTTPStatus.gatewayTimeout, reason: "Gateway Timeout", fields: ["Content-Length": "0"])
    return Reply(response: response, body: Body(), outcome: Outcome(source: .unavailable))
  }
}
