import SteadFiles

/// Changes that a consumer has not yet taken, and consumers that wait for one.
final class ChangeBuffer<Pending: PendingChanges>: Sendable {
  typealias Change = Pending.Change

  struct State: Sendable {
    var pending = Pending()
    var waiting: [CheckedContinuation<Change?, Never>] = []
    var isFinished = false
  }

  private let state = ForkSafeLock(State())

  func add(_ change: Change) {
    let consumer = state.withLock { state -> CheckedContinuation<Change?, Never>? in
      if state.isFinished { return nil }
      // A waiting consumer has taken all earlier changes.
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.pending.add(change)
      return nil
    }
    consumer?.resume(returning: change)
  }

  /// The next change; nil once ``finish()`` was called.
  func next() async -> Change? {
    await withCheckedContinuation { consumer in
      let (change, isThere) = state.withLock { state -> (Change?, Bool) in
        if state.isFinished { return (nil, true) }
        if let change = state.pending.take() { return (change, true) }
        state.waiting.append(consumer)
        return (nil, false)
      }
      if isThere { consumer.resume(returning: change) }
    }
  }

  /// Drops all changes, and returns nil to waiting consumers.
  func finish() {
    let consumers = state.withLock { state in
      defer {
        state = State()
        state.isFinished = true
      }
      return state.waiting
    }
    for consumer in consumers { consumer.resume(returning: nil) }
  }
}
