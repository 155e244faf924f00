import Synchronization

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
