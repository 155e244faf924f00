import Synchronization

/// A server's response that one of several equal requests gets, while the others wait for it to be stored.
///
/// Its body comes to its end without its reader as long as others wait for it. Nobody waits for long for a body that
/// doesn't come on, whose server sends nothing more or whose reader pauses, or comes on slowly, or is of no use any more.
final class Landing: Sendable {
  /// What became of the body, for those who wait for it.
  enum Fate: Sendable {
    /// The response can be looked up.
    case stored
    /// It answers no other request.
    case unusable
    /// The server failed, and a stale response took its place.
    case failed
    /// The body doesn't come on, or nobody loads it any more.
    case stalled
    /// The body is not whole; what its source threw, or nil if it merely ended too early.
    case brokenOff((any Error)?)
  }

  /// What is known of a body whose bytes are still on their way.
  struct Loading: Sendable {
    /// Whether the rest of the body costs less than another fetch.
    let isShort: Bool
    let hasLength: Bool
    /// Waits for some time.
    let sleep: @Sendable (Duration) async throws -> Void
    /// Whether the response would still answer those who wait.
    let isOfUse: @Sendable () -> Bool
    /// Called when the fate is known, before those who wait learn it.
    let whenSettled: @Sendable (Landing) -> Void
  }

  private struct State {
    var reply: HTTPCache.Reply?
    /// Nil while the body comes.
    var fate: Fate?
    var waiterCount = 0
    /// How many chunks have come.
    var progress = 0
    /// Whether the reply's own reader has left.
    var isAbandoned = false
    /// Whether the body is loaded to be stored, for nobody in particular.
    var isUnread = false
    /// Ends the loading of the body.
    var end: (@Sendable () -> Void)?
    /// Sees to it that nobody waits for too long; runs only while somebody waits, or a short body has no reader.
    var watch: Task<Void, Never>?
  }

  private let loading: Loading?
  private let state: Mutex<State>
  /// Opens once the fate is known and whoever keeps landings knows of it.
  private let settled = Latch()
  /// Opens once nothing more is loaded.
  private let ended = Latch()

  /// A response whose body is there, or that nobody waits for; nil if it was stored before this landing was made.
  init(_ reply: HTTPCache.Reply?, _ fate: Fate) {
    loading = nil
    state = Mutex(State(reply: reply, fate: fate))
  }

  /// - Parameter fate: Nil if ``settle(_:)`` will be called.
  init(_ reply: HTTPCache.Reply, _ fate: Fate?, _ loading: Loading) {
    self.loading = loading
    state = Mutex(State(reply: reply, fate: fate))
  }

  var isSettled: Bool { state.withLock { $0.fate != nil } }
  /// Whether a new request is answered, or might be, by what lands here.
  var isWorthAsking: Bool {
    state.withLock { state in
      switch state.fate {
      case nil, .stored: true
      case .unusable, .failed, .stalled, .brokenOff: state.reply != nil
      }
    }
  }
  var waiterCount: Int { state.withLock { $0.waiterCount } }

  /// The reply, for the first that asks.
  func claim() -> HTTPCache.Reply? {
    state.withLock { state in
      defer { state.reply = nil }
      return state.reply
    }
  }
}

// MARK: - The body

extension Landing {
  /// - Parameter end: Ends the loading of the body.
  func begin(end: @escaping @Sendable () -> Void) {
    let isUnwanted = state.withLock { state in
      state.end = end
      return isLeft(state)
    }
    if isUnwanted { giveUp() }
  }

  /// Notes that a chunk has come.
  func noteProgress() { state.withLock { $0.progress += 1 } }

  /// Ends the waiting for the body. The first fate counts.
  func settle(_ fate: Fate) {
    let (isFirst, watch) = state.withLock { state -> (Bool, Task<Void, Never>?) in
      guard state.fate == nil else { return (false, nil) }
      state.fate = fate
      if state.isAbandoned { return (true, nil) }
      defer { state.watch = nil }
      return (true, state.watch)
    }
    guard isFirst else { return }
    watch?.cancel()
    loading?.whenSettled(self)
    settled.open()
  }

  /// The loading has ended.
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

  /// The reply's own reader has left: the loading goes on if others wait for it, or if its rest is short.
  func abandon() {
    let isUnwanted = state.withLock { state in
      state.isAbandoned = true
      if loading?.isShort == true || state.waiterCount > 0 { startWatch(&state) }
      return isLeft(state)
    }
    if isUnwanted { giveUp() }
  }

  private func isLeft(_ state: State) -> Bool {
    state.isAbandoned && state.waiterCount == 0 && loading?.isShort == false
  }

  private func giveUp() {
    settle(.stalled)
    let end = state.withLock { state in
      defer { state.end = nil }
      return state.end
    }
    end?()
    // Whoever loads may not notice that.
    ended.open()
  }
}

// MARK: - Waiting

extension Landing {
  /// Waits until the body is stored or won't be.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  func fate() async throws -> Fate {
    try Task.checkCancellation()
    let known = state.withLock { state -> Fate? in
      if state.fate == nil {
        state.waiterCount += 1
        startWatch(&state)
      }
      return state.fate
    }
    if let known { return known }
    await settled.wait()
    let isUnwanted = state.withLock { state in
      state.waiterCount -= 1
      return isLeft(state)
    }
    if isUnwanted { giveUp() }
    try Task.checkCancellation()
    return state.withLock { $0.fate } ?? .stalled
  }

  /// Drops the reply, whose body is loaded without a reader as long as it comes on, even slowly, and waits until that is over.
  func loadUnread() async {
    var reply = claim()
    // If another has it, it reads the body.
    guard reply != nil, loading != nil else { return }
    state.withLock { state in
      state.waiterCount += 1
      state.isUnread = true
      startWatch(&state)
    }
    reply = nil
    await ended.wait()
    state.withLock { $0.waiterCount -= 1 }
  }

  private func startWatch(_ state: inout State) {
    guard state.watch == nil, let loading else { return }
    state.watch = Task { await self.watch(loading) }
  }

  private enum Verdict { case waitOn, isNotNeeded, isOfNoUse, isSlow, isTooSlow, isSilent }

  private func watch(_ loading: Loading) async {
    var seen = state.withLock { $0.progress }
    var waited = Duration.zero
    let patience =
      loading.hasLength
      ? HTTPCache.Limits.longestPatienceForLength : HTTPCache.Limits.longestPatience
    let slow: Fate = loading.hasLength ? .stalled : .unusable
    while (try? await loading.sleep(HTTPCache.Limits.patience)) != nil {
      waited += HTTPCache.Limits.patience
      let isOfUse = loading.isOfUse()
      let verdict = state.withLock { state -> Verdict in
        defer { seen = state.progress }
        guard state.waiterCount > 0 || state.isAbandoned else {
          state.watch = nil
          return .isNotNeeded
        }
        if state.progress == seen { return .isSilent }
        let limit = state.isUnread ? HTTPCache.Limits.longestRevalidation : patience
        if waited >= limit { return .isTooSlow }
        // Others wait for it as for any body.
        if state.isUnread, state.fate == nil, state.waiterCount > 1, waited >= patience {
          return .isSlow
        }
        return state.fate == nil && !isOfUse ? .isOfNoUse : .waitOn
      }
      switch verdict {
      case .waitOn: continue
      case .isNotNeeded: return
      case .isOfNoUse:
        // It is stored nevertheless if anybody reads it.
        settle(.unusable)
        continue
      case .isSlow:
        settle(slow)
        continue
      case .isSilent: settle(.stalled)
      case .isTooSlow: settle(slow)
      }
      if state.withLock({ $0.isAbandoned }) { giveUp() }
      return
    }
  }
}

// MARK: - Latches

/// Something that happens once, and that tasks wait for, each as long as it isn't cancelled.
final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter = 0
    /// Those that were cancelled before they began to wait.
    var cancelled: Set<Int> = []
  }

  private let state = Mutex(State())

  /// Lets all go on that wait, and all that will.
  func open() {
    let waiters = state.withLock { state in
      defer { (state.waiters, state.cancelled) = ([:], []) }
      state.isOpen = true
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until the latch is open, or until the task is cancelled.
  func wait() async {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isOpen || state.cancelled.remove(number) != nil { return true }
          state.waiters[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: number)
        if waiter == nil, !state.isOpen { state.cancelled.insert(number) }
        return waiter
      }
      waiter?.resume()
    }
  }
}
