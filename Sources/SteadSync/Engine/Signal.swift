import Synchronization

/// Wakes one task. A signal without a waiting task is kept; several count as one.
final class Signal: Sendable {
  private struct State {
    var isSet = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func set() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      defer { state.waiter = nil }
      state.isSet = state.waiter == nil
      return state.waiter
    }
    waiter?.resume()
  }

  /// Returns at the next signal, or when the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isSet = state.withLock { state -> Bool in
          if state.isSet || Task.isCancelled {
            state.isSet = false
            return true
          }
          state.waiter = continuation
          return false
        }
        if isSet { continuation.resume() }
      }
    } onCancel: {
      set()
    }
  }
}
