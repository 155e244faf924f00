import Foundation

extension HTTPCache {
  /// A request that is about to be sent, and the stored response that it validates.
  struct PendingFetch: Sendable {
    let fetchKey: FetchKey
    /// The request as it is sent: the caller's, with `If-None-Match` and `If-Modified-Since` of the
    /// cache if it validates a stored response.
    let outgoing: Request
    /// The stored response that is validated.
    let stored: StoredResponse?
    let fetch: Fetch
    /// Whether the caller already has the stored response (`stale-while-revalidate`).
    var isInBackground = false

    /// The caller's request, without the cache's conditions.
    var request: Request { fetchKey.request }

    /// Whether equal requests may be collapsed into this fetch.
    var isShareable: Bool {
      request.method == "GET" && [.standard, .preferStored].contains(fetchKey.mode)
    }

    /// The same request without the cache's conditions.
    var unconditional: PendingFetch {
      PendingFetch(
        fetchKey: fetchKey, outgoing: request, stored: nil, fetch: fetch,
        isInBackground: isInBackground
      )
    }
  }

  /// Sends a request for one caller alone, in the caller's task.
  func fetchAlone(_ pending: PendingFetch) async throws -> Reply {
    while true {
      // No other caller knows this result, so the reply is still there; without one the loop asks
      // again.
      if let reply = try await perform(pending).takeReply() { return reply }
    }
  }

  /// Sends one request for all concurrent equal requests (RFC 9111, 4: collapsed requests).
  ///
  /// Two tables find the fetch of a request. ``fetches`` has it until the head of the response has
  /// come; then ``joinable`` has its result until the body is stored. A load looks into both again,
  /// since it may begin after another one has moved from the first to the second, or to the store.
  func fetchCollapsed(_ pending: PendingFetch) async throws -> FetchResult {
    let fetchKey = pending.fetchKey
    if let result = result(of: fetchKey) { return result }
    return try await fetches.value(
      for: fetchKey,
      load: {
        if let result = self.result(of: fetchKey) { return result }
        // The response to an equal request may have been stored since this one was decided.
        guard self.needsServer(pending) else { return FetchResult(nil, .stored) }
        return try await self.perform(pending, isShared: true)
      },
      keep: { _, _ in nil },
      // All callers were cancelled. Dropping the reply cancels the transfer of its body.
      unwanted: { _ = $0.takeReply() })
  }

  /// The result of an equal request whose body is being received; nil if there is none to wait for.
  private func result(of fetchKey: FetchKey) -> FetchResult? {
    let result = joinable.withLock { $0[fetchKey] }
    return result?.isJoinable == true ? result : nil
  }

  /// A revalidation in the background.
  struct Revalidation: Sendable {
    /// Opens once the head of the response has come or the fetch has failed: `fetch` is not called
    /// any more.
    let isAnswered = Latch()
    /// Opens once the body has been received, too.
    let isOver = Latch()
  }

  /// Revalidates a response in the background, in a task of its own.
  ///
  /// - Returns: Nil if the response is already being revalidated.
  func revalidate(_ stored: StoredResponse, _ pending: PendingFetch) -> Revalidation? {
    let revalidation = Revalidation()
    let isNew = revalidations.withLock { revalidations in
      // By the stored response and not by the request: requests that differ may be answered by one
      // response.
      guard revalidations[stored.id] == nil else { return false }
      revalidations[stored.id] = revalidation
      return true
    }
    guard isNew else { return nil }
    Task {
      // A failure leaves what is stored as it is; the next request asks again.
      let result = try? await self.fetchCollapsed(pending)
      revalidation.isAnswered.open()
      await result?.drain()
      // Before the latch opens: whoever waited for it may begin another revalidation at once.
      self.revalidations.withLock { $0[stored.id] = nil }
      revalidation.isOver.open()
    }
    return revalidation
  }

  /// Whether the response that is revalidated in the background was not removed meanwhile.
  ///
  /// The caller got its reply before the revalidation's task ran. If the program removes the
  /// response then, it expects that the removal is final, and that the server isn't asked.
  private func isStillStored(_ pending: PendingFetch) -> Bool {
    guard pending.isInBackground else { return true }
    let fetchKey = pending.fetchKey
    guard store.epochs.epoch(of: fetchKey.key) == fetchKey.epoch else { return false }
    guard let stored = pending.stored else { return true }
    // Epochs only count removals by this object; other processes' removals show in the store.
    return store.responses(for: fetchKey.key).contains { $0.id == stored.id }
  }

  /// Waits until all revalidations that run in the background have ended and their bodies are
  /// stored.
  ///
  /// Call it before a program ends, or in a test:
  ///
  /// ```swift
  /// _ = try await cache.response(to: request, fetch: send)  // Stale: revalidates in the background.
  /// await cache.finishRevalidations()
  /// ```
  ///
  /// A revalidation whose body comes slowly ends after ``Limits/longestRevalidation``. If the task
  /// is cancelled, this returns at once and the revalidations go on.
  /// ``Reply/waitForRevalidation()`` waits for one of them.
  public func finishRevalidations() async {
    for revalidation in revalidations.withLock({ Array($0.values) }) {
      await revalidation.isOver.wait()
    }
  }

  /// Sends the request, and applies the response to what is stored.
  ///
  /// Invariant: `beginStoring` is called before the request is sent, and its `endStoring` on every
  /// way out; only ``startStoring(_:_:_:_:isShared:)`` ends it itself, once the body is stored. A
  /// removal in between invalidates the body's name, so that a response the server made before the
  /// removal is not stored after it.
  ///
  /// - Parameter id: The body's name of the fetch that this one repeats without conditions. It is
  ///   passed on, since what was removed during the first fetch must not come back with the second.
  ///   Nil for the first.
  private func perform(
    _ pending: PendingFetch, isShared: Bool = false, storedAs id: String? = nil
  ) async throws -> FetchResult {
    let (key, request) = (pending.fetchKey.key, pending.request)
    let isFirst = id == nil
    let id = id ?? Self.newBodyID()
    if isFirst { store.epochs.beginStoring(id, of: key) }
    // Checked after `beginStoring`: a removal before it shows in the store, and one after it
    // invalidates the name.
    guard isStillStored(pending) else {
      store.epochs.endStoring(id, of: key)
      return FetchResult(nil, .unusable)
    }
    let requestedAt = now()
    let (response, body): (Response, Body)
    do {
      (response, body) = try await pending.fetch(pending.outgoing)
    } catch {
      store.epochs.endStoring(id, of: key)
      if let result = staleResult(insteadOf: error, pending) { return result }
      throw error
    }
    let receivedAt = now()
    // Nothing is stored of a HEAD, it only updates what is stored.
    if request.method == "HEAD" {
      store.epochs.endStoring(id, of: key)
      return applyHead(response, body, pending, requestedAt, receivedAt)
    }
    let decision = StoreDecision.make(
      of: response, to: request, about: pending.stored, settings.withLock { $0 },
      requestedAt: requestedAt, receivedAt: receivedAt, id: id)
    let result: FetchResult?
    switch decision {
    case .store(let draft): return startStoring(draft, response, body, pending, isShared: isShared)
    case .confirmed(let confirmed, let kept):
      result = applyConfirmation(
        confirmed, kept: kept, by: response, pending, requestedAt, receivedAt)
    case .fetchUnconditionally: result = nil
    case .useStale(let stored):
      result =
        staleResult(stored, pending, status: response.status)
        ?? FetchResult(miss(response, body), .unusable)
    case .forward:
      let times = ResponseTimes(of: response, requestedAt: requestedAt, receivedAt: receivedAt)
      dropOutdated(by: response, at: times, for: request, under: key)
      result = FetchResult(miss(response, body), .unusable)
    }
    guard let result else {
      // Once at most: a request without conditions validates nothing, so no 304 is about a stored
      // response then.
      return try await perform(pending.unconditional, isShared: isShared, storedAs: id)
    }
    store.epochs.endStoring(id, of: key)
    return result
  }

  /// Applies a 304 to the stored response, and returns it; nil if its body was evicted meanwhile.
  private func applyConfirmation(
    _ confirmed: StoredResponse, kept: StoredResponse?, by response: Response,
    _ pending: PendingFetch, _ requestedAt: Date, _ receivedAt: Date
  ) -> FetchResult? {
    let key = pending.fetchKey.key
    // The body is looked up first: the update below removes it if the response may not be used
    // again.
    var reply = reply(
      confirmed, to: pending.request, under: key, as: .revalidated,
      forwardStatus: response.status)
    let own = StoredFields.missing(
      response.fields, in: reply?.response.fields ?? [:], receivedAt: receivedAt)
    for field in own { reply?.response.fields.append(field.value, named: field.name) }
    store.update(key) { list in
      VariantList.confirming(
        pending.stored ?? confirmed, as: kept, requestedAt: requestedAt, in: list)
    }
    // The program or another process may have removed it meanwhile.
    let isStored = kept != nil && store.responses(for: key).contains { $0.id == confirmed.id }
    reply?.outcome.isStored = isStored
    if !isStored { reply?.outcome.freshness = nil }
    return reply.map { FetchResult($0, .stored) }
  }

  /// Removes the stored responses that a new one shows to be outdated, when the new one itself
  /// could not be stored.
  func dropOutdated(by draft: StoredResponse, for request: Request, under key: CacheKey) {
    if draft.range == nil {
      return dropOutdated(
        by: draft.response, at: ResponseTimes(of: draft), for: request, under: key)
    }
    let now = now()
    store.update(key) { VariantList.kept(beside: draft, for: request, in: $0, now: now) }
  }

  /// Does so for a response that is no part (206).
  private func dropOutdated(
    by response: Response, at times: ResponseTimes, for request: Request, under key: CacheKey
  ) {
    guard StoreDecision.replacesOthers(response.status) else { return }
    let now = now()
    store.update(key) { VariantList.removing(matching: request, from: $0, at: times, now: now) }
  }

  private func staleResult(insteadOf error: any Error, _ pending: PendingFetch) -> FetchResult? {
    // A caller that was cancelled wants no response at all.
    guard let stored = pending.stored, !(error is CancellationError), !Task.isCancelled,
      StoreDecision.mayUseStale(
        stored, for: pending.request, settings.withLock { $0 }, now: now())
    else { return nil }
    return staleResult(stored, pending)
  }

  /// The stale response to use instead of a failed fetch (RFC 5861, 4); nil if its body was
  /// evicted.
  ///
  /// - Parameter status: The status of the server's response; nil if it couldn't be reached.
  private func staleResult(
    _ stored: StoredResponse, _ pending: PendingFetch, status: Int? = nil
  ) -> FetchResult? {
    let reply = reply(
      stored, to: pending.request, under: pending.fetchKey.key, as: .stale, forwardStatus: status,
      hasFailed: true)
    return reply.map { FetchResult($0, .failed) }
  }

  /// Applies the response to a HEAD (RFC 9111, 4.3.5): a 200 updates or removes what is stored, and
  /// a stale response may take the place of a server's failure.
  private func applyHead(
    _ response: Response, _ body: Body, _ pending: PendingFetch, _ requestedAt: Date,
    _ receivedAt: Date
  ) -> FetchResult {
    if let stored = pending.stored,
      StoreDecision.mayUseStale(
        stored, insteadOf: response, for: pending.request, settings.withLock { $0 },
        now: receivedAt),
      let result = staleResult(stored, pending, status: response.status)
    {
      return result
    }
    if response.status == 200 {
      let times = ResponseTimes(of: response, requestedAt: requestedAt, receivedAt: receivedAt)
      store.update(pending.fetchKey.key) { list in
        VariantList.updating(list, byHead: response, to: pending.request, at: times)
      }
    }
    return FetchResult(miss(response, body), .unusable)
  }

  func miss(_ response: Response, _ body: Body, isStored: Bool = false) -> Reply {
    var outcome = Outcome(source: .miss)
    outcome.forwardStatus = response.status
    outcome.isStored = isStored
    return Reply(response: response, body: body.once, outcome: outcome)
  }

  /// A name for a body that no other body has or had: 128 random bits.
  static func newBodyID() -> String {
    String(UInt64.random(in: 0 ... .max), radix: 36) + "-"
      + String(UInt64.random(in: 0 ... .max), radix: 36)
  }
}
