import Synchronization

/// A server's response that one of several equal requests gets, while the others wait for it to be stored.
final class Landing: Sendable {
  private struct State {
    var reply: HTTPCache.Reply?
    /// Whether the response is stored; nil while its body comes.
    var isStored: Bool?
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter = 0
    /// Those that were cancelled before they began to wait.
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>

  /// - Parameter isStored: Nil if ``settle(_:)`` will be called.
  init(_ reply: HTTPCache.Reply, isStored: Bool?) {
    state = Mutex(State(reply: reply, isStored: isStored))
  }

  var isSettled: Bool { state.withLock { $0.isStored != nil } }

  /// The reply, for the first that asks.
  func claim() -> HTTPCache.Reply? {
    state.withLock { state in
      defer { state.reply = nil }
      return state.reply
    }
  }

  /// Ends the waiting for the body.
  func settle(_ isStored: Bool) {
    let waiters = state.withLock { state in
      state.isStored = state.isStored ?? isStored
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until the body is stored or won't be.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  func settled() async throws {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isStored != nil || state.cancelled.remove(number) != nil { return true }
          state.waiters[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: number)
        if waiter == nil { state.cancelled.insert(number) }
        return waiter
      }
      waiter?.resume()
    }
    try Task.checkCancellation()
  }
}
