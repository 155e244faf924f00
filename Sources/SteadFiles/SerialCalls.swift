import CSteadFiles
import Foundation

/// Calls functions one after another on a thread of its own, at once or after a delay.
///
/// The thread exists only while something is to be called, and so does one more for each length of delay. Dispatch isn't
/// used: once a program has used it, a timer of Dispatch's wakes the process every second for as long as it lives. It also
/// stops working in the child of a fork. What the parent had yet to call, the child calls with its own next call.
package final class SerialCalls: Sendable {
  package typealias Call = @Sendable () -> Void

  private struct Delayed: Sendable {
    var deadline: ContinuousClock.Instant
    var call: Call
  }

  private struct State: Sendable {
    var calls: [Call] = []
    /// In the order of their deadlines, since all calls of a list have the same delay.
    var delayed: [Duration: [Delayed]] = [:]
    var isRunning = false
    /// The delays that have a thread.
    var runningDelays: Set<Duration> = []
    var generation = stead_fork_generation()

    mutating func restartAfterFork() {
      guard generation != stead_fork_generation() else { return }
      generation = stead_fork_generation()
      isRunning = false
      runningDelays = []
    }
  }

  private let state = ForkSafeLock(State())

  package init() {}

  /// Calls a function soon.
  package func call(_ body: @escaping Call) {
    let needsThread = state.withLock { state -> Bool in
      state.restartAfterFork()
      state.calls.append(body)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard needsThread else { return }
    do {
      try DetachedThread.start { self.run() }
    } catch {
      // The next call tries again.
      state.withLock { $0.isRunning = false }
    }
  }

  /// Calls a function once a delay has passed. Each length of delay in use costs a thread, so there should be few.
  package func call(after delay: Duration, _ body: @escaping Call) {
    let delayed = Delayed(deadline: .now + delay, call: body)
    let needsThread = state.withLock { state -> Bool in
      state.restartAfterFork()
      state.delayed[delay, default: []].append(delayed)
      return state.runningDelays.insert(delay).inserted
    }
    guard needsThread else { return }
    do {
      try DetachedThread.start { self.run(delay) }
    } catch {
      state.withLock { _ = $0.runningDelays.remove(delay) }
    }
  }

  private func run() {
    while let call = nextCall() { call() }
  }

  private func nextCall() -> Call? {
    state.withLock { state in
      // Under the lock that `call(_:)` takes, so no call is left to a thread that has just decided to end.
      guard !state.calls.isEmpty else {
        state.isRunning = false
        return nil
      }
      return state.calls.removeFirst()
    }
  }

  private func run(_ delay: Duration) {
    while let next = next(delay) {
      let rest = (next.deadline - .now).wholeMicroseconds
      // Needs no wake-up: calls of this delay that are added meanwhile are due later.
      if rest > 0 { usleep(useconds_t(rest)) }
      call(next.call)
    }
  }

  private func next(_ delay: Duration) -> Delayed? {
    state.withLock { state in
      guard let next = state.delayed[delay]?.first else {
        state.delayed[delay] = nil
        state.runningDelays.remove(delay)
        return nil
      }
      state.delayed[delay]?.removeFirst()
      return next
    }
  }
}

extension Duration {
  /// The duration in microseconds, rounded toward zero.
  var wholeMicroseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }
}
