import Synchronization

@testable import SteadCaches

/// Time that passes when a test says so: what a cache gets instead of `Task.sleep`.
final class Pauses: Sendable {
  private struct State {
    var sleepers: [Int: CheckedContinuation<Void, Never>] = [:]
    var next = 0
    var cancelled: Set<Int> = []
  }

  private let state = Mutex(State())

  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  func sleep(_ time: Duration) async throws {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.cancelled.remove(number) != nil { return true }
          state.sleepers[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: number)
        if sleeper == nil { state.cancelled.insert(number) }
        return sleeper
      }
      sleeper?.resume()
    }
    try Task.checkCancellation()
  }

  /// Ends all pauses that have begun, and returns how many these were.
  @discardableResult func pass() -> Int {
    let sleepers = state.withLock { state in
      defer { state.sleepers = [:] }
      return state.sleepers.values
    }
    for sleeper in sleepers { sleeper.resume() }
    return sleepers.count
  }

  /// Waits until somebody waits for time to pass, and lets it pass.
  func passNext() async {
    while sleeperCount == 0 { await Task.yield() }
    pass()
  }
}

extension HTTPCache {
  /// How many requests wait for bodies of others.
  var followerCount: Int { joinable.withLock { $0.values.reduce(0) { $0 + $1.waiterCount } } }

  /// Waits until so many requests wait for the body of another one.
  func waitForFollowers(_ count: Int) async {
    while followerCount < count { await Task.yield() }
  }
}
