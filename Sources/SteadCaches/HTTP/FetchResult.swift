import Synchronization

/// The outcome of one fetch: a reply for one caller, and for the callers whose equal requests were
/// collapsed into it the moment at which they can look the response up in the store.
///
/// A body can be read once, so only one caller gets it; see ``takeReply()``. The others call
/// ``completion()``, and then look the stored response up or send a request of their own. While
/// they wait, the body is transferred to its end even if its reader leaves.
///
/// It begins where ``SingleFlight`` ends, with the response's head, and isn't one of its loads: who
/// reads the body keeps the transfer running as well as who waits, a short rest is received for
/// nobody, and those who wait may be released while the transfer goes on.
///
/// A waiting caller depends on a server and a reader that it doesn't know, so each wait has a
/// timeout: one for a transfer that makes no progress, because the server sends nothing or the
/// reader applies back-pressure, and one for a transfer that is merely slow (see
/// ``HTTPCache/Limits``). Waiters are also released at once when the response could no longer
/// answer them, for example since it has become stale.
final class FetchResult: Sendable {
  /// How a fetch has ended for the callers that wait for its response to be stored.
  enum Completion: Sendable {
    /// The response is in the store.
    case stored
    /// The response answers no other request.
    case unusable
    /// The server failed, and a stale response was used instead.
    case failed
    /// The transfer made no progress for ``HTTPCache/Limits/stallLimit``, was too slow, or was
    /// cancelled.
    case stalled
    /// The body is incomplete: the error of its source, or nil if it merely ended before its
    /// `Content-Length`.
    case brokenOff((any Error)?)
  }

  /// A body that is still being received.
  struct BodyTransfer: Sendable {
    /// Whether to receive the rest of the body even if its reader leaves and nobody waits: a short
    /// rest costs less than another fetch.
    let isShort: Bool
    let hasLength: Bool
    /// Suspends for a duration; tests replace it.
    let sleep: @Sendable (Duration) async throws -> Void
    /// Whether the response, once stored, would answer the waiting requests.
    let isOfUse: @Sendable () -> Bool
    /// Called on completion, before waiters resume: they must not find and join this result again.
    let onCompletion: @Sendable (FetchResult) -> Void
  }

  private struct State {
    /// Nil once a caller has taken it.
    var reply: HTTPCache.Reply?
    /// Nil while the body is received, unless nobody may wait for it.
    var completion: Completion?
    var waiterCount = 0
    /// The number of chunks received.
    var progress = 0
    /// Whether the reader of the reply's body has dropped it or was cancelled.
    var hasReaderLeft = false
    /// Whether ``drain()`` waits for the end of the transfer.
    var isDraining = false
    /// Cancels the transfer.
    var end: (@Sendable () -> Void)?
    /// Enforces the timeouts. Runs only while somebody waits, or a short body has no reader, so
    /// that a transfer that is merely read costs no timer.
    var watch: Task<Void, Never>?
  }

  private let transfer: BodyTransfer?
  private let state: Mutex<State>
  /// Opens after `onCompletion` has returned.
  private let completed = Latch()
  /// Opens when the transfer has ended or was cancelled, which can be later than `completed`.
  private let ended = Latch()

  /// Makes a result without a transfer to wait for.
  ///
  /// - Parameter reply: Nil if the response had been stored before, by another fetch.
  init(_ reply: HTTPCache.Reply?, _ completion: Completion) {
    transfer = nil
    state = Mutex(State(reply: reply, completion: completion))
  }

  /// Makes a result whose body is being received.
  ///
  /// - Parameter completion: Nil if others may wait; then ``complete(_:)`` is called later.
  init(_ reply: HTTPCache.Reply, _ completion: Completion?, _ transfer: BodyTransfer) {
    self.transfer = transfer
    state = Mutex(State(reply: reply, completion: completion))
  }

  var isComplete: Bool { state.withLock { $0.completion != nil } }
  /// Whether an equal request should use this result instead of fetching.
  var isJoinable: Bool {
    state.withLock { state in
      // A failed one is joined while its reply is there: the request then gets it, and need not
      // wait.
      switch state.completion {
      case nil, .stored: true
      case .unusable, .failed, .stalled, .brokenOff: state.reply != nil
      }
    }
  }
  var waiterCount: Int { state.withLock { $0.waiterCount } }

  /// Returns the reply to the first caller, and nil to all others.
  func takeReply() -> HTTPCache.Reply? {
    state.withLock { state in
      defer { state.reply = nil }
      return state.reply
    }
  }
}

// MARK: - The body

extension FetchResult {
  /// Starts the transfer.
  ///
  /// - Parameter end: Cancels it.
  func begin(end: @escaping @Sendable () -> Void) {
    let isUnwanted = state.withLock { state in
      state.end = end
      return isUnneeded(state)
    }
    if isUnwanted { cancelTransfer() }
  }

  /// Records that a chunk was received, which restarts the shorter timeout.
  func recordProgress() { state.withLock { $0.progress += 1 } }

  /// Resumes all waiters. Only the first call has an effect.
  func complete(_ completion: Completion) {
    let (isFirst, watch) = state.withLock { state -> (Bool, Task<Void, Never>?) in
      guard state.completion == nil else { return (false, nil) }
      state.completion = completion
      // Without a reader the timeouts must go on: nothing else would end a transfer that hangs.
      if state.hasReaderLeft { return (true, nil) }
      defer { state.watch = nil }
      return (true, state.watch)
    }
    guard isFirst else { return }
    watch?.cancel()
    transfer?.onCompletion(self)
    completed.open()
  }

  /// Records that the transfer has ended.
  func finish() {
    ended.open()
    let (end, watch) = state.withLock { state in
      defer { (state.end, state.watch) = (nil, nil) }
      return (state.end, state.watch)
    }
    watch?.cancel()
    // They may hold the last reference to a connection, which must not end under a lock.
    withExtendedLifetime(end) {}
  }

  /// Records that nobody reads the reply's body any more. The transfer goes on if callers wait for
  /// it, or if its rest is short, and is cancelled otherwise.
  func readerDidLeave() {
    let isUnwanted = state.withLock { state in
      state.hasReaderLeft = true
      if transfer?.isShort == true || state.waiterCount > 0 { startTimeouts(&state) }
      return isUnneeded(state)
    }
    if isUnwanted { cancelTransfer() }
  }

  private func isUnneeded(_ state: State) -> Bool {
    state.hasReaderLeft && state.waiterCount == 0 && transfer?.isShort == false
  }

  private func cancelTransfer() {
    complete(.stalled)
    let end = state.withLock { state in
      defer { state.end = nil }
      return state.end
    }
    end?()
    // The source of the body may ignore the cancellation of its task, and then `finish()` is never
    // called.
    ended.open()
  }
}

// MARK: - Waiting

extension FetchResult {
  /// Waits until the response is stored, or it is known that it won't be.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  func completion() async throws -> Completion {
    try Task.checkCancellation()
    let known = state.withLock { state -> Completion? in
      if state.completion == nil {
        state.waiterCount += 1
        startTimeouts(&state)
      }
      return state.completion
    }
    if let known { return known }
    await completed.wait()
    let isUnwanted = state.withLock { state in
      state.waiterCount -= 1
      return isUnneeded(state)
    }
    if isUnwanted { cancelTransfer() }
    // The wait also ends when the task is cancelled.
    try Task.checkCancellation()
    return state.withLock { $0.completion } ?? .stalled
  }

  /// Drops the reply, and waits until its body was received without a reader, however slowly, up to
  /// ``HTTPCache/Limits/longestRevalidation``.
  ///
  /// Returns at once if another caller has taken the reply, and so reads the body.
  func drain() async {
    var reply = takeReply()
    // Without a reply another caller reads the body; without a transfer none of it is being stored.
    guard reply != nil, transfer != nil else { return }
    state.withLock { state in
      state.waiterCount += 1
      state.isDraining = true
      startTimeouts(&state)
    }
    // Dropping the body's last reference calls `readerDidLeave()`, so only after `waiterCount` was
    // raised.
    reply = nil
    await ended.wait()
    state.withLock { $0.waiterCount -= 1 }
  }

  private func startTimeouts(_ state: inout State) {
    guard state.watch == nil, let transfer else { return }
    state.watch = Task { await self.watch(transfer) }
  }

  private enum Verdict { case waitOn, isNotNeeded, isOfNoUse, isSlow, isTooSlow, isSilent }

  /// Wakes up every ``HTTPCache/Limits/stallLimit`` and decides whether to keep waiting.
  ///
  /// Invariant: when this returns, either ``complete(_:)`` was called, or no waiter is left and
  /// `state.watch` is nil, so that the next waiter starts it again.
  private func watch(_ transfer: BodyTransfer) async {
    var seen = state.withLock { $0.progress }
    var waited = Duration.zero
    let waitLimit =
      transfer.hasLength
      ? HTTPCache.Limits.waitLimitOfKnownLength : HTTPCache.Limits.waitLimit
    let slow: Completion = transfer.hasLength ? .stalled : .unusable
    while (try? await transfer.sleep(HTTPCache.Limits.stallLimit)) != nil {
      waited += HTTPCache.Limits.stallLimit
      // Outside the lock: it reads settings under another one.
      let isOfUse = transfer.isOfUse()
      let verdict = state.withLock { state -> Verdict in
        defer { seen = state.progress }
        guard state.waiterCount > 0 || state.hasReaderLeft else {
          state.watch = nil
          return .isNotNeeded
        }
        // No chunk for a whole period.
        if state.progress == seen { return .isSilent }
        let limit = state.isDraining ? HTTPCache.Limits.longestRevalidation : waitLimit
        if waited >= limit { return .isTooSlow }
        // One waiter is `drain()` itself. Others must not wait longer than for any other body.
        if state.isDraining, state.completion == nil, state.waiterCount > 1, waited >= waitLimit {
          return .isSlow
        }
        return state.completion == nil && !isOfUse ? .isOfNoUse : .waitOn
      }
      switch verdict {
      case .waitOn: continue
      case .isNotNeeded: return
      case .isOfNoUse:
        // The transfer goes on, and the response is stored if its reader reads to the end.
        complete(.unusable)
        continue
      case .isSlow:
        complete(slow)
        continue
      case .isSilent: complete(.stalled)
      case .isTooSlow: complete(slow)
      }
      if state.withLock({ $0.hasReaderLeft }) { cancelTransfer() }
      return
    }
  }
}
