import Synchronization

/// One call that waits for a result, which ends with the call's task at the latest: what the calls
/// that wait for a load (``SingleFlight``) and those that wait for a ``Latch`` have in common.
///
/// Invariant: the state only goes forward, from `new` to `waiting`, `attached` and `finished`, and
/// the step to `finished` is the only one that gives the continuation away. So a continuation is
/// resumed once, by a result or by the cancellation, whichever comes first.
final class Waiter<Value: Sendable>: Sendable {
  /// Removes the waiter from what it waits for.
  typealias Detach = @Sendable () -> Void

  private enum State {
    case new
    case waiting(CheckedContinuation<Value, any Error>)
    /// It waits for something from which it can be detached.
    case attached(CheckedContinuation<Value, any Error>, detach: Detach)
    case finished
  }

  private let state = Mutex(State.new)

  /// Suspends the call until a result is delivered. To be called once.
  ///
  /// - Parameter join: Adds the waiter to what it waits for, and returns how to detach it, which
  ///   must have no effect on a waiter that has its result. Not called if the task was cancelled
  ///   before.
  /// - Throws: The error that is delivered, and `CancellationError` when the task is cancelled.
  func result(joining join: @Sendable () -> Detach) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // Before `join`: the result may come at once, on another thread, and must find the
        // continuation.
        guard begin(continuation) else { return }
        let detach = join()
        // The task may have been cancelled between `begin` and `attach`: then nobody has detached
        // the waiter.
        if !attach(detach) { detach() }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Ends the call with a result; false if it had ended before, or never began.
  func deliver(_ result: Result<Value, any Error>) -> Bool {
    guard let continuation = finish().continuation else { return false }
    continuation.resume(with: result)
    return true
  }

  /// Begins to wait; false if the task was cancelled before, and then the call has ended.
  private func begin(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
    let isNew = state.withLock { state in
      guard case .new = state else { return false }
      state = .waiting(continuation)
      return true
    }
    if !isNew { continuation.resume(throwing: CancellationError()) }
    return isNew
  }

  /// Stores how to detach the waiter; false if the call has ended meanwhile.
  private func attach(_ detach: @escaping Detach) -> Bool {
    state.withLock { state in
      guard case .waiting(let continuation) = state else { return false }
      state = .attached(continuation, detach: detach)
      return true
    }
  }

  /// Ends the call with `CancellationError`, and detaches it from what it waits for.
  private func cancel() {
    // In the state `new` there is nothing to resume: `begin` finds the call finished, and throws.
    let old = finish()
    old.continuation?.resume(throwing: CancellationError())
    old.detach?()
  }

  /// Ends the call, and returns what resumes it and what detaches it. Only the first caller gets
  /// them, so that a continuation is resumed once.
  private func finish() -> (
    continuation: CheckedContinuation<Value, any Error>?, detach: Detach?
  ) {
    let old = state.withLock { state in
      defer { state = .finished }
      return state
    }
    switch old {
    case .new, .finished: return (nil, nil)
    case .waiting(let continuation): return (continuation, nil)
    case .attached(let continuation, let detach): return (continuation, detach)
    }
  }
}

// MARK: - Latches

/// A one-shot event that tasks can wait for; a cancelled task stops waiting.
final class Latch: Sendable {
  private struct State {
    var isOpen = false
    /// Empty once the latch is open.
    var waiters: [ObjectIdentifier: Waiter<Void>] = [:]
  }

  private let state = Mutex(State())

  /// Resumes all tasks that wait, and lets later waits return at once.
  func open() {
    let waiters = state.withLock { state in
      // No waiter can be added from here on, so each one is resumed below or was cancelled.
      state.isOpen = true
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    // After the lock: a resumed task may run at once, and wait for this latch again.
    for waiter in waiters { _ = waiter.deliver(.success(())) }
  }

  /// Waits until the latch is open, or until the task is cancelled.
  func wait() async {
    let waiter = Waiter<Void>()
    // Only the cancellation throws; the caller asks its task whether that was the end of the wait.
    _ = try? await waiter.result {
      if !self.add(waiter) { _ = waiter.deliver(.success(())) }
      return { self.remove(waiter) }
    }
  }

  /// Adds a waiter; false if the latch is open.
  private func add(_ waiter: Waiter<Void>) -> Bool {
    state.withLock { state in
      guard !state.isOpen else { return false }
      state.waiters[ObjectIdentifier(waiter)] = waiter
      return true
    }
  }

  private func remove(_ waiter: Waiter<Void>) {
    state.withLock { _ = $0.waiters.removeValue(forKey: ObjectIdentifier(waiter)) }
  }
}
