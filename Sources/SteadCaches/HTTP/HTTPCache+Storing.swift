public import Foundation

extension HTTPCache {
  /// Stores a response for a GET request as if the server had just sent it.
  ///
  /// ```swift
  /// // A response that the program got in another way, for example with a push or in a bundle.
  /// cache.store(HTTPCache.Response(status: 200, fields: ["Cache-Control": "max-age=60"]), data, for: request)
  /// ```
  ///
  /// The rules are those of ``response(to:mode:fetch:)``: a response with `no-store`, or without a
  /// lifetime and a status that may be cached without one, is not stored.
  ///
  /// - Returns: Whether it is stored. False also if the request isn't a GET without a body, the
  ///   body's length differs from `Content-Length`, or neither memory nor disk has room.
  @discardableResult
  public func store(_ response: Response, _ body: Data, for request: Request) -> Bool {
    // Only what a later GET can find.
    guard let key = self.key(request.url), request.method == "GET", !request.hasBody else {
      return false
    }
    let (id, moment) = (Self.newBodyID(), now())
    store.epochs.beginStoring(id, of: key)
    defer { store.epochs.endStoring(id, of: key) }
    let draft = StoreDecision.draft(
      of: response, to: request, requestedAt: moment, receivedAt: moment, id: id,
      isShared: configuration.isShared)
    guard let draft else { return false }
    return store(draft, body, for: request, under: key)
  }

  /// Returns a response that may be stored, and stores it while its body is read.
  ///
  /// The body has two readers at different paces: the caller, through a ``ChunkQueue`` whose limit
  /// is the back-pressure on the server, and the buffer that becomes the stored body. One task
  /// feeds both, so that a slow caller never makes the cache hold more than the queue's limit. A
  /// source that can't be held up, such as ``Transfer``, has its own queue for the rest.
  ///
  /// Ownership: the task holds the source of the body. Dropping the reply's body cancels the queue,
  /// which tells the result, which cancels the task unless others wait. So a connection ends once
  /// nobody needs it.
  func startStoring(
    _ draft: StoredResponse, _ response: Response, _ body: Body, _ pending: PendingFetch,
    isShared: Bool
  ) -> FetchResult {
    let (key, fetchKey, request) = (pending.fetchKey.key, pending.fetchKey, pending.request)
    if let data = body.bytes {
      let isStored = store(draft, data, for: request, under: key)
      if !isStored { dropOutdated(by: draft, for: request, under: key) }
      // A body in memory is stored at once, and nobody has to wait.
      store.epochs.endStoring(draft.id, of: key)
      return FetchResult(miss(response, body, isStored: isStored), isStored ? .stored : .unusable)
    }
    let queue = ChunkQueue(limit: limits.bufferSizeLimit)
    let length = Self.length(of: draft)
    let canHold = store.canHold(draft, length: length, for: request, under: key) != nil
    let isOfUse: @Sendable (Date) -> Bool = { now in
      CacheDecision.mayAnswerEqualRequests(
        draft, length: length, request, mode: fetchKey.mode, self.settings.withLock { $0 }, now: now
      )
    }
    let transfer = FetchResult.BodyTransfer(
      // A rest that fits into the buffer costs less than another fetch.
      isShort: length.map { $0 <= limits.bufferSizeLimit } ?? false,
      hasLength: length != nil, sleep: sleep, isOfUse: { isOfUse(self.now()) },
      onCompletion: { self.removeJoinable($0, fetchKey) })
    // If the head already says that the response answers no other request, others must not wait for
    // its body, which may never end.
    let isForOthers = isShared && canHold && isOfUse(draft.receivedAt)
    let reply = miss(response, Body(reading: queue), isStored: canHold)
    let result = FetchResult(reply, isForOthers ? nil : .unusable, transfer)
    if isForOthers { joinable.withLock { $0[fetchKey] = result } }
    let task = Task {
      let end = await gather(body, draft, for: pending, into: queue, result)
      self.store.epochs.endStoring(draft.id, of: key)
      // The reader learns of the end last: a program that has read all of a body finds it stored.
      result.finish()
      queue.finish(end)
    }
    queue.onCancellation { result.readerDidLeave() }
    // The reader may have left by now; `begin` ends the transfer then.
    result.begin(end: { task.cancel() })
    return result
  }

  private func removeJoinable(_ result: FetchResult, _ fetchKey: FetchKey) {
    // The last reference is dropped after the lock is released: its deinit may close a connection.
    let last = joinable.withLock { joinable in
      joinable[fetchKey] === result ? joinable.removeValue(forKey: fetchKey) : nil
    }
    withExtendedLifetime(last) {}
  }

  /// Passes chunks on to the reader, and stores them once they are complete.
  ///
  /// - Returns: How the body has ended, for the reader.
  private func gather(
    _ body: Body, _ draft: StoredResponse, for pending: PendingFetch, into queue: ChunkQueue,
    _ result: FetchResult
  ) async -> Result<Void, any Error> {
    let length = Self.length(of: draft)
    var buffer = BodyBuffer(
      for: draft, length: length, limits: limits, store: store, key: pending.fetchKey.key)
    do {
      for try await chunk in body {
        // Before `write`, which waits for the reader: the server did send something.
        result.recordProgress()
        buffer.append(chunk)
        if !buffer.isStorable { result.complete(.unusable) }
        let isRead = await queue.write(chunk)
        // Neither reader nor store needs the rest: the throw ends the loop, and so the connection.
        if !isRead, !buffer.isStorable { throw CancellationError() }
      }
    } catch {
      buffer.cancel()
      // A cancellation of this task is none of the waiters' tasks, so they must not throw
      // `CancellationError`.
      result.complete(.brokenOff(error is CancellationError ? nil : error))
      return .failure(error)
    }
    let isComplete = buffer.isComplete
    let isStored = buffer.finish(for: pending.request)
    if !isStored {
      dropOutdated(by: draft, for: pending.request, under: pending.fetchKey.key)
    }
    result.complete(isStored ? .stored : isComplete ? .unusable : .brokenOff(nil))
    return .success(())
  }

  private func store(
    _ draft: StoredResponse, _ data: Data, for request: Request, under key: CacheKey
  ) -> Bool {
    guard Self.length(of: draft).map({ $0 == data.count }) ?? true else { return false }
    var stored = draft
    stored.bodySize = data.count
    // A copy: the program's own code may free the program's bytes, and must not run under the
    // cache's locks.
    let isKept = data.count <= store.memoryBodySizeLimit
    let body = isKept ? data.withUnsafeBytes { Data($0) } : data
    return store.store(stored, body, for: request, under: key)
  }

  /// The length that a body must have to be stored; nil if it isn't known, as for an encoded body
  /// that the client decodes.
  private static func length(of draft: StoredResponse) -> Int? {
    if let range = draft.range { return range.positions.count }
    guard !draft.response.fields.contains("Content-Encoding") else { return nil }
    return draft.response.fields.bodyLength.count
  }

  /// Sends a request that no stored response can answer, and removes the responses that an unsafe
  /// method invalidates (RFC 9111, 4.4).
  func forward(
    _ request: Request, under key: CacheKey?, _ mode: Mode, _ fetch: Fetch
  ) async throws -> Reply {
    let requestedAt = now()
    let (response, body) = try await fetch(request)
    let receivedAt = now()
    // After the response: what a concurrent GET has stored meanwhile may be from before the change.
    for key in Invalidation.keys(of: request, response: response, key: self.key(_:)) {
      store.remove(key)
    }
    var outcome = Outcome(source: .bypass)
    outcome.forwardStatus = response.status
    if let key, mode != .bypass, request.method == "POST",
      Invalidation.describesItself(response, to: request, key: self.key(_:)),
      let data = body.bytes
    {
      let id = Self.newBodyID()
      store.epochs.beginStoring(id, of: key)
      defer { store.epochs.endStoring(id, of: key) }
      let draft = StoreDecision.draft(
        of: response, to: request, requestedAt: requestedAt, receivedAt: receivedAt, id: id,
        isShared: configuration.isShared)
      if let draft { outcome.isStored = store(draft, data, for: request, under: key) }
    }
    return Reply(response: response, body: body.once, outcome: outcome)
  }
}

// MARK: - The body until it is complete

/// Collects a body that is being received: in memory up to ``HTTPCache/Limits/bufferSizeLimit``,
/// and in a file of the disk cache beyond it.
struct BodyBuffer {
  private enum Storage {
    case memory(Data)
    case disk(DiskCache.Writer)
    /// The body is too long, or can't be written.
    case discarded
  }

  private let draft: StoredResponse
  private let length: Int?
  private let store: ResponseStore
  private let key: CacheKey
  /// The maximum number of bytes of the body.
  private let limit: Int
  private var size = 0
  private var storage = Storage.memory(Data())

  /// - Parameter length: The length that the body must have; nil if it isn't known.
  init(
    for draft: StoredResponse, length: Int?, limits: HTTPCache.Limits, store: ResponseStore,
    key: CacheKey
  ) {
    self.draft = draft
    self.length = length
    self.store = store
    self.key = key
    // A body that is longer than stated is given up at the first byte too many, and not only at its
    // end.
    limit = min(length ?? .max, limits.bodySizeLimit)
  }

  /// Whether the body may still be stored.
  var isStorable: Bool {
    if case .discarded = storage { return false }
    return true
  }

  /// Whether all bytes were received, or the length isn't known.
  var isComplete: Bool { length == nil || length == size }

  mutating func append(_ chunk: Data) {
    size += chunk.count
    guard size <= limit else { return cancel() }
    switch storage {
    case .memory(var bytes):
      storage = .discarded  // The only reference, so that appending doesn't copy the bytes.
      bytes.append(chunk)
      storage = size <= store.limits.bufferSizeLimit ? .memory(bytes) : spill(bytes)
    case .disk(let writer):
      if !writer.append(chunk) { cancel() }
    case .discarded: break
    }
  }

  private func spill(_ bytes: Data) -> Storage {
    guard let writer = store.writer(for: draft, under: key), writer.append(bytes) else {
      return .discarded
    }
    return .disk(writer)
  }

  /// Stores the body if it is complete, and returns whether it is stored.
  mutating func finish(for request: HTTPCache.Request) -> Bool {
    guard isComplete else {
      cancel()
      return false
    }
    var stored = draft
    stored.bodySize = size
    switch storage {
    case .memory(let bytes): return store.store(stored, bytes, for: request, under: key)
    case .disk(let writer): return store.store(stored, writer, for: request, under: key)
    case .discarded: return false
    }
  }

  /// Drops the gathered bytes.
  mutating func cancel() {
    if case .disk(let writer) = storage { writer.cancel() }
    storage = .discarded
  }
}
