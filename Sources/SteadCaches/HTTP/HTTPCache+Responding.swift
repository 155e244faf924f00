import Foundation

extension HTTPCache {
  /// Returns the response to a request: a stored one, or the server's.
  ///
  /// ```swift
  /// let reply = try await cache.response(to: HTTPCache.Request(url: url)) { request in
  ///   try await client.send(request)
  /// }
  /// print(reply.outcome.source)  // hit, stale, revalidated, miss, …
  /// for try await chunk in reply.body { … }
  /// ```
  ///
  /// It returns when the head of the response is known. A response of the server is stored while
  /// its body is read, if RFC 9111 and the limits allow that; not if the body breaks off, or if its
  /// length differs from `Content-Length`.
  ///
  /// Concurrent equal requests are collapsed into one fetch if its response may be used for all of
  /// them. One gets the body as it comes; the others wait until it is stored, within the timeouts
  /// of ``Limits``. A request with `If-None-Match` or a `Range` gets a 304 or a 206 that is made
  /// from the stored response.
  ///
  /// A hit from memory takes some microseconds. With a disk, each call also asks SQLite for the
  /// version of what is stored.
  ///
  /// - Parameters:
  ///   - mode: How this request uses the cache, besides what its fields demand.
  ///   - fetch: Sends a request to the server. It runs in a separate task if equal requests may
  ///     share its response; that task is cancelled when nobody waits for it any more. Otherwise it
  ///     runs in this call's task. It may also run after this call returned, to revalidate the
  ///     response that was used (``Reply/waitForRevalidation()``).
  /// - Throws: What `fetch` throws; ``HTTPCacheError`` if only a stored response may be used, and
  ///   there is none; `CancellationError` if the task is cancelled.
  public func response(
    to request: Request, mode: Mode = .standard, fetch: @escaping Fetch
  ) async throws -> Reply {
    let reply = try await answer(request, mode, fetch)
    counts.withLock { $0.count(reply) }
    return reply
  }

  /// Acts on the ``CacheDecision`` for a request, and decides again when a stored body is missing
  /// or an equal request's fetch has ended.
  private func answer(_ request: Request, _ mode: Mode, _ fetch: @escaping Fetch) async throws
    -> Reply
  {
    guard let key = self.key(request.url) else {
      // Another scheme than `http` and `https`.
      if let code = CacheDecision.refusal(mode, isOffline: isOffline) {
        throw HTTPCacheError(code, for: request)
      }
      return try await forward(request, under: nil, mode, fetch)
    }
    var collapsed = CollapsedWait()
    // The bodies of stored responses can be evicted at any time. A response whose body is missing
    // is left out of the next decision, so the loop ends: each turn returns, throws, adds to
    // `missing`, or counts in `collapsed`, which ends after two waits.
    var missing: Set<String> = []
    while true {
      let decision = decide(for: request, under: key, mode: mode, without: missing)
      switch decision {
      case .use(let stored, let isStale):
        if let reply = reply(
          stored, to: request, under: key, as: isStale ? .stale : .hit, isShared: collapsed.hasBegun
        ) {
          return reply
        }
        missing.insert(stored.id)
      case .useAndRevalidate(let stored, let outgoing):
        if var reply = reply(
          stored, to: request, under: key, as: .stale, isShared: collapsed.hasBegun)
        {
          reply.revalidation = revalidate(
            stored,
            PendingFetch(
              fetchKey: fetchKey(of: request, under: key, mode), outgoing: outgoing, stored: stored,
              fetch: fetch, isInBackground: true))
          return reply
        }
        missing.insert(stored.id)
      case .bypass: return try await forward(request, under: key, mode, fetch)
      case .unavailable: return unavailable()
      case .fail(let code): throw HTTPCacheError(code, for: request)
      case .fetch(let outgoing, let stored):
        let pending = PendingFetch(
          fetchKey: fetchKey(of: request, under: key, mode), outgoing: outgoing, stored: stored,
          fetch: fetch)
        // A HEAD, and modes that must reach the server, have a fetch of their own.
        guard !collapsed.isOver, pending.isShareable else { return try await fetchAlone(pending) }
        let result = try await fetchCollapsed(pending)
        // The first caller gets the reply, and its body as it is received. The others wait.
        if let reply = result.takeReply() { return reply }
        let completion = try await result.completion()
        if let reply = staleReply(after: completion, pending) { return reply }
        try collapsed.end(with: completion)
      }
    }
  }

  /// The stale response for a request that waited for an equal one whose fetch has failed (RFC
  /// 5861, 4).
  ///
  /// Without it each waiting request would send its own to a server that doesn't work, and wait for
  /// its timeout once more.
  private func staleReply(after completion: FetchResult.Completion, _ pending: PendingFetch)
    -> Reply?
  {
    guard case .failed = completion, let stored = pending.stored,
      StoreDecision.mayUseStale(stored, for: pending.request, settings.withLock { $0 }, now: now())
    else { return nil }
    return reply(
      stored, to: pending.request, under: pending.fetchKey.key, as: .stale, hasFailed: true,
      isShared: true)
  }

  /// The state of a request that waits for the response to an equal one.
  private struct CollapsedWait {
    /// Whether it has waited.
    private(set) var hasBegun = false
    /// Whether the request stops waiting and is sent alone if no stored response answers it.
    private(set) var isOver = false
    private var hasBrokenOff = false

    /// Records how a wait has ended.
    ///
    /// After one body that breaks off or stalls the requests are collapsed again, into a second
    /// fetch: all of them at once would ask a server that may be overloaded. After the second each
    /// is sent alone.
    ///
    /// - Throws: The error of the second body, if both broke off.
    mutating func end(with completion: FetchResult.Completion) throws {
      let isFirst = !hasBegun
      hasBegun = true
      switch completion {
      case .stored, .unusable, .failed: isOver = true
      case .stalled: isOver = !isFirst
      case .brokenOff(let error):
        if hasBrokenOff, let error { throw error }
        hasBrokenOff = true
        isOver = !isFirst
      }
    }
  }

  /// Returns a stored response to a request, however old it is; nil if there is none. Never asks
  /// the server, and isn't counted in ``statistics``.
  ///
  /// ```swift
  /// if let reply = cache.storedResponse(to: request), let data = reply.body.bytes { show(data) }
  /// ```
  public func storedResponse(to request: Request) -> Reply? {
    guard let key = self.key(request.url) else { return nil }
    var missing: Set<String> = []
    while case .use(let stored, let isStale) = decide(
      for: request, under: key, mode: .onlyStored, without: missing)
    {
      if let reply = reply(stored, to: request, under: key, as: isStale ? .stale : .hit) {
        return reply
      }
      missing.insert(stored.id)
    }
    return nil
  }

  /// Whether no stored response answers a request, by what is stored now.
  func needsServer(_ pending: PendingFetch) -> Bool {
    let fetchKey = pending.fetchKey
    let decision = decide(
      for: pending.request, under: fetchKey.key, mode: fetchKey.mode, without: [])
    switch decision {
    case .use(let stored, _):
      // Its body may have been evicted.
      return store.body(of: stored, at: 0..<0, for: fetchKey.key) == nil
    default: return true
    }
  }

  private func decide(
    for request: Request, under key: CacheKey, mode: Mode, without missing: Set<String>
  ) -> CacheDecision {
    var stored = store.responses(for: key)
    if !missing.isEmpty { stored.removeAll { missing.contains($0.id) } }
    return .make(
      for: request, mode: mode, settings.withLock { $0 }, stored: stored, now: now())
  }

  /// Makes the reply of a stored response; nil if its body was evicted.
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
    // Rounded down, so that a response is never said to be fresh longer than it is.
    let rest = stored.freshness.remaining(at: moment, assuming: defaultLifetime).rounded(.down)
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
