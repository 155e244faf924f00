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

    /// The caller's request, without the cache's conditions.
    var request: Request { flight.request }

    /// Whether equal requests may wait for the response.
    var isShareable: Bool {
      request.method == "GET" && [.standard, .preferStored].contains(flight.mode)
    }

    /// The same request without the cache's conditions.
    var unconditional: Exchange {
      Exchange(flight: flight, question: request, stored: nil, fetch: fetch)
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
  private func land(_ exchange: Exchange, isShared: Bool = false) async throws -> Landing {
    let (key, request) = (exchange.flight.key, exchange.request)
    let id = Self.newName()
    store.rights.begin(id, of: key)
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
    if case .store(let draft) = reception {
      return landNew(draft, response, body, exchange, isShared: isShared)
    }
    store.rights.end(id, of: key)
    switch reception {
    case .confirmed(let confirmed, let kept):
      // The body is looked up first, since it is removed with a response that may not be used again.
      var reply = reply(
        confirmed, to: request, under: key, as: .revalidated, forwardStatus: response.status)
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
      if let reply { return Landing(reply, .stored) }
      return try await land(exchange.unconditional, isShared: isShared)
    case .useStale(let stored):
      let reply = reply(
        stored, to: request, under: key, as: .stale, forwardStatus: response.status,
        hasFailed: true)
      if let reply { return Landing(reply, .failed) }
      return Landing(miss(response, body), .unusable)
    case .askAgain: return try await land(exchange.unconditional, isShared: isShared)
    case .handOn:
      let moment = Moment(of: response, requestedAt: requestedAt, receivedAt: receivedAt)
      dropOutdated(by: response, at: moment, for: request, under: key)
      return Landing(miss(response, body), .unusable)
    case .store: return Landing(miss(response, body), .unusable)
    }
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
    let reply = reply(
      stored, to: exchange.request, under: exchange.flight.key, as: .stale, hasFailed: true)
    return reply.map { Landing($0, .failed) }
  }

  private func landHead(
    _ response: Response, _ body: Body, _ exchange: Exchange, _ requestedAt: Date,
    _ receivedAt: Date
  ) -> Landing {
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
