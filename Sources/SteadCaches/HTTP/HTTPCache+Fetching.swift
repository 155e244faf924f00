import Foundation

extension HTTPCache {
  /// A question to the server, and its purpose.
  struct Exchange: Sendable {
    let flight: Flight
    /// What the server is asked: the caller's request, perhaps with conditions of the cache's.
    let question: Request
    /// The stored response that the question is about.
    let stored: StoredResponse?
    let fetch: Fetch
    /// Whether the request has been answered already, by the stored response.
    var isInBackground = false

    /// The caller's request, without the cache's conditions.
    var request: Request { flight.request }

    /// Whether equal requests may wait for the response.
    var isShareable: Bool {
      request.method == "GET" && [.standard, .preferStored].contains(flight.mode)
    }

    /// The same request without the cache's conditions.
    var unconditional: Exchange {
      Exchange(
        flight: flight, question: request, stored: nil, fetch: fetch, isInBackground: isInBackground
      )
    }
  }

  /// Asks the server for this caller alone.
  func alone(_ exchange: Exchange) async throws -> Reply {
    while true {
      // Nobody else knows the landing, so it has the reply.
      if let reply = try await land(exchange).claim() { return reply }
    }
  }

  /// Asks the server once for all simultaneous equal requests.
  func shared(_ exchange: Exchange) async throws -> Landing {
    let flight = exchange.flight
    if let landing = landing(of: flight) { return landing }
    return try await flights.value(
      for: flight,
      load: {
        if let landing = self.landing(of: flight) { return landing }
        // An equal request's response may have been stored since this one looked.
        guard self.asks(exchange) else { return Landing(nil, .stored) }
        return try await self.land(exchange, isShared: true)
      },
      keep: { _, _ in nil },
      // Nobody reads its body, which ends the connection.
      unwanted: { _ = $0.claim() })
  }

  /// The landing whose body equal requests wait for. One that has failed is found until those who wait for it know.
  private func landing(of flight: Flight) -> Landing? {
    let landing = landings.withLock { $0[flight] }
    return landing?.isWorthAsking == true ? landing : nil
  }

  /// A question to the server that runs in the background.
  struct Revalidation: Sendable {
    /// The server has answered or failed, and isn't asked again.
    let isAnswered = Latch()
    /// The answer's body has come, too.
    let isOver = Latch()
  }

  /// Asks the server in the background about a response that was used meanwhile.
  ///
  /// - Returns: Nil if that is already running.
  func revalidate(_ stored: StoredResponse, _ exchange: Exchange) -> Revalidation? {
    let revalidation = Revalidation()
    let isNew = revalidations.withLock { revalidations in
      // One question is enough for a stored response, however much the requests differ that it answers.
      guard revalidations[stored.id] == nil else { return false }
      revalidations[stored.id] = revalidation
      return true
    }
    guard isNew else { return nil }
    Task {
      // A failure leaves what is stored as it is; the next request asks again.
      let landing = try? await self.shared(exchange)
      revalidation.isAnswered.open()
      await landing?.loadUnread()
      self.revalidations.withLock { $0[stored.id] = nil }
      revalidation.isOver.open()
    }
    return revalidation
  }

  /// Whether nothing has removed the response that a question in the background is about.
  ///
  /// Such a question, and one that follows it, counts as on its way once its request is answered: a program that then
  /// removes the response expects that nothing of it comes back.
  private func isStillWanted(_ exchange: Exchange) -> Bool {
    guard exchange.isInBackground else { return true }
    let flight = exchange.flight
    guard store.rights.epoch(of: flight.key) == flight.epoch else { return false }
    guard let stored = exchange.stored else { return true }
    // Other processes' removals don't count in the epoch.
    return store.responses(for: flight.key).contains { $0.id == stored.id }
  }

  /// Waits for the revalidations that run in the background, and for the bodies that they get, for example before a program
  /// ends. Returns at once when the task is cancelled; they go on.
  ///
  /// It waits for those of all URLs. ``Reply/waitForRevalidation()`` waits for one.
  public func finishRevalidations() async {
    for revalidation in revalidations.withLock({ Array($0.values) }) {
      await revalidation.isOver.wait()
    }
  }

  /// Sends the question, and applies the response to what is stored.
  ///
  /// - Parameter right: The right to store, of the question that this one follows: what was removed since that was asked
  ///   doesn't come back with the second one's response. Nil for the first.
  private func land(
    _ exchange: Exchange, isShared: Bool = false, right: String? = nil
  ) async throws -> Landing {
    let (key, request) = (exchange.flight.key, exchange.request)
    let id = right ?? Self.newName()
    if right == nil { store.rights.begin(id, of: key) }
    // Looked at once the right is granted: a removal that comes later takes that.
    guard isStillWanted(exchange) else {
      store.rights.end(id, of: key)
      return Landing(nil, .unusable)
    }
    let requestedAt = now()
    let (response, body): (Response, Body)
    do {
      (response, body) = try await exchange.fetch(exchange.question)
    } catch {
      store.rights.end(id, of: key)
      if let landing = landInstead(of: error, exchange) { return landing }
      throw error
    }
    let receivedAt = now()
    if request.method == "HEAD" {
      store.rights.end(id, of: key)
      return landHead(response, body, exchange, requestedAt, receivedAt)
    }
    let reception = Reception.make(
      of: response, to: request, about: exchange.stored, settings.withLock { $0 },
      requestedAt: requestedAt, receivedAt: receivedAt, id: id)
    let landing: Landing?
    switch reception {
    case .store(let draft): return landNew(draft, response, body, exchange, isShared: isShared)
    case .confirmed(let confirmed, let kept):
      landing = landConfirmed(
        confirmed, kept: kept, by: response, exchange, requestedAt, receivedAt)
    case .askAgain: landing = nil
    case .useStale(let stored):
      landing =
        landStale(stored, exchange, status: response.status)
        ?? Landing(miss(response, body), .unusable)
    case .handOn:
      let moment = Moment(of: response, requestedAt: requestedAt, receivedAt: receivedAt)
      dropOutdated(by: response, at: moment, for: request, under: key)
      landing = Landing(miss(response, body), .unusable)
    }
    guard let landing else {
      return try await land(exchange.unconditional, isShared: isShared, right: id)
    }
    store.rights.end(id, of: key)
    return landing
  }

  /// Applies a confirmation, and returns the confirmed response; nil if its body is gone.
  private func landConfirmed(
    _ confirmed: StoredResponse, kept: StoredResponse?, by response: Response,
    _ exchange: Exchange, _ requestedAt: Date, _ receivedAt: Date
  ) -> Landing? {
    let key = exchange.flight.key
    // The body is looked up first, since it is removed with a response that may not be used again.
    var reply = reply(
      confirmed, to: exchange.request, under: key, as: .revalidated,
      forwardStatus: response.status)
    let own = StoredFields.missing(
      response.fields, in: reply?.response.fields ?? [:], receivedAt: receivedAt)
    for field in own { reply?.response.fields.append(field.value, named: field.name) }
    store.change(key) { list in
      StoredList.confirming(
        exchange.stored ?? confirmed, as: kept, requestedAt: requestedAt, in: list)
    }
    // It may have been removed in the meantime.
    let isStored = kept != nil && store.responses(for: key).contains { $0.id == confirmed.id }
    reply?.outcome.isStored = isStored
    if !isStored { reply?.outcome.freshness = nil }
    return reply.map { Landing($0, .stored) }
  }

  /// Removes the stored responses that a part of another version replaces which isn't stored itself, or the whole.
  func dropOutdated(by draft: StoredResponse, for request: Request, under key: CacheKey) {
    if draft.range == nil {
      return dropOutdated(by: draft.response, at: Moment(of: draft), for: request, under: key)
    }
    let now = now()
    store.change(key) { StoredList.kept(beside: draft, for: request, in: $0, now: now) }
  }

  /// Removes the stored response that one replaces which isn't stored itself.
  private func dropOutdated(
    by response: Response, at moment: Moment, for request: Request, under key: CacheKey
  ) {
    guard Reception.replacesOthers(response.status) else { return }
    let now = now()
    store.change(key) { StoredList.removing(matching: request, from: $0, at: moment, now: now) }
  }

  private func landInstead(of error: any Error, _ exchange: Exchange) -> Landing? {
    guard let stored = exchange.stored, !(error is CancellationError), !Task.isCancelled,
      Reception.mayUseStale(
        stored, for: exchange.request, settings.withLock { $0 }, now: now())
    else { return nil }
    return landStale(stored, exchange)
  }

  /// A stale response in place of the server's failure; nil if its body is gone.
  ///
  /// - Parameter status: What the server has answered, if it has.
  private func landStale(
    _ stored: StoredResponse, _ exchange: Exchange, status: Int? = nil
  ) -> Landing? {
    let reply = reply(
      stored, to: exchange.request, under: exchange.flight.key, as: .stale, forwardStatus: status,
      hasFailed: true)
    return reply.map { Landing($0, .failed) }
  }

  private func landHead(
    _ response: Response, _ body: Body, _ exchange: Exchange, _ requestedAt: Date,
    _ receivedAt: Date
  ) -> Landing {
    if let stored = exchange.stored,
      Reception.mayUseStale(
        stored, insteadOf: response, for: exchange.request, settings.withLock { $0 },
        now: receivedAt),
      let landing = landStale(stored, exchange, status: response.status)
    {
      return landing
    }
    if response.status == 200 {
      let moment = Moment(of: response, requestedAt: requestedAt, receivedAt: receivedAt)
      store.change(exchange.flight.key) { list in
        StoredList.updating(list, byHead: response, to: exchange.request, at: moment)
      }
    }
    return Landing(miss(response, body), .unusable)
  }

  func miss(_ response: Response, _ body: Body, isStored: Bool = false) -> Reply {
    var outcome = Outcome(source: .miss)
    outcome.forwardStatus = response.status
    outcome.isStored = isStored
    return Reply(response: response, body: body.once, outcome: outcome)
  }

  /// A name for a body that no other body has.
  static func newName() -> String {
    String(UInt64.random(in: 0 ... .max), radix: 36) + "-"
      + String(UInt64.random(in: 0 ... .max), radix: 36)
  }
}
