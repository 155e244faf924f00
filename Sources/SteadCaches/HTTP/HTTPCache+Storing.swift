public import Foundation

extension HTTPCache {
  /// Stores a response for a request as if the server had just sent it, if it may be stored.
  ///
  /// - Returns: Whether it is stored.
  @discardableResult
  public func store(_ response: Response, _ body: Data, for request: Request) -> Bool {
    guard let key = self.key(request.url), request.method == "GET", !request.hasBody else {
      return false
    }
    let (id, moment) = (Self.newName(), now())
    store.rights.begin(id, of: key)
    defer { store.rights.end(id, of: key) }
    let draft = Reception.draft(
      of: response, to: request, requestedAt: moment, receivedAt: moment, id: id,
      isShared: configuration.isShared)
    guard let draft else { return false }
    return store(draft, body, for: request, under: key)
  }

  /// Returns a response that may be stored, and stores it as its body arrives.
  func landNew(
    _ draft: StoredResponse, _ response: Response, _ body: Body, _ exchange: Exchange,
    isShared: Bool
  ) -> Landing {
    let (key, flight, request) = (exchange.flight.key, exchange.flight, exchange.request)
    if let data = body.bytes {
      let isStored = store(draft, data, for: request, under: key)
      if !isStored { dropOutdated(by: draft, for: request, under: key) }
      store.rights.end(draft.id, of: key)
      return Landing(miss(response, body, isStored: isStored), isStored ? .stored : .unusable)
    }
    let queue = ChunkQueue(limit: limits.bufferSizeLimit)
    let length = Self.length(of: draft)
    let canHold = store.canHold(draft, length: length, for: request, under: key)
    let isOfUse: @Sendable (Date) -> Bool = { now in
      CacheDecision.mayAnswerEqualRequests(
        draft, length: length, request, mode: flight.mode, self.settings.withLock { $0 }, now: now)
    }
    let loading = Landing.Loading(
      isShort: length.map { $0 <= limits.bufferSizeLimit } ?? false,
      hasLength: length != nil, sleep: sleep, isOfUse: { isOfUse(self.now()) },
      whenSettled: { self.takeOff($0, flight) })
    // Nobody waits for a body, which may never end, whose head says already that it is for this request alone.
    let isForOthers = isShared && canHold && isOfUse(draft.receivedAt)
    let reply = miss(response, Body(reading: queue), isStored: canHold)
    let landing = Landing(reply, isForOthers ? nil : .unusable, loading)
    if isForOthers { landings.withLock { $0[flight] = landing } }
    let task = Task {
      let end = await gather(body, draft, for: exchange, into: queue, landing)
      self.store.rights.end(draft.id, of: key)
      landing.finish()
      queue.finish(end)
    }
    queue.onAbandonment { landing.abandon() }
    landing.begin(end: { task.cancel() })
    return landing
  }

  private func takeOff(_ landing: Landing, _ flight: Flight) {
    // The last reference goes after the lock: it may end a connection.
    let last = landings.withLock { landings in
      landings[flight] === landing ? landings.removeValue(forKey: flight) : nil
    }
    withExtendedLifetime(last) {}
  }

  /// Hands chunks on to the reader, and stores them once they are complete.
  private func gather(
    _ body: Body, _ draft: StoredResponse, for exchange: Exchange, into queue: ChunkQueue,
    _ landing: Landing
  ) async -> Result<Void, any Error> {
    let length = Self.length(of: draft)
    var gathering = BodyGathering(
      for: draft, length: length, limits: limits, store: store, key: exchange.flight.key)
    do {
      for try await chunk in body {
        landing.noteProgress()
        gathering.append(chunk)
        if !gathering.isWanted { landing.settle(.unusable) }
        let isRead = await queue.write(chunk)
        if !isRead, !gathering.isWanted { throw CancellationError() }
      }
    } catch {
      gathering.cancel()
      // Those who wait weren't cancelled, whoever was.
      landing.settle(.brokenOff(error is CancellationError ? nil : error))
      return .failure(error)
    }
    let isWhole = gathering.isWhole
    let isStored = gathering.finish(for: exchange.request)
    if !isStored {
      dropOutdated(by: draft, for: exchange.request, under: exchange.flight.key)
    }
    landing.settle(isStored ? .stored : isWhole ? .unusable : .brokenOff(nil))
    return .success(())
  }

  private func store(
    _ draft: StoredResponse, _ data: Data, for request: Request, under key: CacheKey
  ) -> Bool {
    guard Self.length(of: draft).map({ $0 == data.count }) ?? true else { return false }
    var stored = draft
    stored.bodySize = data.count
    // A copy: the program's own code may free the program's bytes, and must not run under the cache's locks.
    let isKept = data.count <= store.memoryBodySize
    let body = isKept ? data.withUnsafeBytes { Data($0) } : data
    return store.store(stored, body, for: request, under: key)
  }

  /// The length that a body must have; nil if it isn't known.
  private static func length(of draft: StoredResponse) -> Int? {
    if let range = draft.range { return range.positions.count }
    guard !draft.response.fields.contains("Content-Encoding") else { return nil }
    return draft.response.fields.bodyLength.count
  }

  /// Sends a request that no stored response can answer, and removes responses that its answer invalidates.
  func handOn(
    _ request: Request, under key: CacheKey?, _ mode: Mode, _ fetch: Fetch
  ) async throws -> Reply {
    let requestedAt = now()
    let (response, body) = try await fetch(request)
    let receivedAt = now()
    for key in Invalidation.keys(of: request, response: response, key: self.key(_:)) {
      store.remove(key)
    }
    var outcome = Outcome(source: .bypass)
    outcome.forwardStatus = response.status
    if let key, mode != .bypass, request.method == "POST",
      Invalidation.describesItself(response, to: request, key: self.key(_:)),
      let data = body.bytes
    {
      let id = Self.newName()
      store.rights.begin(id, of: key)
      defer { store.rights.end(id, of: key) }
      let draft = Reception.draft(
        of: response, to: request, requestedAt: requestedAt, receivedAt: receivedAt, id: id,
        isShared: configuration.isShared)
      if let draft { outcome.isStored = store(draft, data, for: request, under: key) }
    }
    return Reply(response: response, body: body.once, outcome: outcome)
  }
}

// MARK: - The body until it is complete

/// The bytes of a body that come one after the other: in memory first, on disk once they are many.
struct BodyGathering {
  private enum Place {
    case memory(Data)
    case disk(DiskCache.Writer)
    case nowhere
  }

  private let draft: StoredResponse
  private let length: Int?
  private let store: ResponseStore
  private let key: CacheKey
  /// The maximum number of bytes of the body.
  private let limit: Int
  private var size = 0
  private var place = Place.memory(Data())

  /// - Parameter length: The length that the body must have; nil if it isn't known.
  init(
    for draft: StoredResponse, length: Int?, limits: HTTPCache.Limits, store: ResponseStore,
    key: CacheKey
  ) {
    self.draft = draft
    self.length = length
    self.store = store
    self.key = key
    limit = min(length ?? .max, limits.bodySizeLimit)
  }

  /// Whether the body can still be stored.
  var isWanted: Bool {
    if case .nowhere = place { return false }
    return true
  }

  /// Whether all bytes have come, as far as is known.
  var isWhole: Bool { length == nil || length == size }

  mutating func append(_ chunk: Data) {
    size += chunk.count
    guard size <= limit else { return cancel() }
    switch place {
    case .memory(var bytes):
      place = .nowhere  // So that the bytes are not copied.
      bytes.append(chunk)
      place = size <= store.limits.bufferSizeLimit ? .memory(bytes) : spill(bytes)
    case .disk(let writer):
      if !writer.append(chunk) { cancel() }
    case .nowhere: break
    }
  }

  private func spill(_ bytes: Data) -> Place {
    guard let writer = store.writer(for: draft, under: key), writer.append(bytes) else {
      return .nowhere
    }
    return .disk(writer)
  }

  /// Stores the body if it is complete, and returns whether it is stored.
  mutating func finish(for request: HTTPCache.Request) -> Bool {
    guard isWhole else {
      cancel()
      return false
    }
    var stored = draft
    stored.bodySize = size
    switch place {
    case .memory(let bytes): return store.store(stored, bytes, for: request, under: key)
    case .disk(let writer): return store.store(stored, writer, for: request, under: key)
    case .nowhere: return false
    }
  }

  /// Drops the gathered bytes.
  mutating func cancel() {
    if case .disk(let writer) = place { writer.cancel() }
    place = .nowhere
  }
}
