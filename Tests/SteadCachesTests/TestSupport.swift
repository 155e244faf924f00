import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@testable import SteadCaches

/// Holds tasks until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      defer { state = State(isOpen: true) }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// Numbers that any thread adds, in their order.
final class Numbers: Sendable {
  private let numbers = Mutex<[Int]>([])

  var all: [Int] { numbers.withLock { $0 } }

  func add(_ number: Int) { numbers.withLock { $0.append(number) } }
}

/// A number that any thread counts up.
final class Tally: Sendable {
  private let count = Mutex(0)

  var value: Int { count.withLock { $0 } }

  /// Returns the new number.
  func add() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}

extension SingleFlight {
  /// Returns once so many calls wait for a key's load.
  func waitForWaiters(_ count: Int, of key: Key) async {
    while waiterCount(for: key) < count { await Task.yield() }
  }

  /// Returns once all loads have ended, and what they have loaded is kept.
  func waitForLoads() async { while count > 0 { await Task.yield() } }
}

/// What a cache's handler was called with, in order.
final class RemovalLog: Sendable {
  struct Entry: Equatable, Sendable {
    let key: Int
    let value: Int
    let reason: RemovalReason
  }

  private let log = Mutex<[Entry]>([])

  var entries: [Entry] { log.withLock { $0 } }

  @Sendable func note(_ key: Int, _ value: Int, _ reason: RemovalReason) {
    log.withLock { $0.append(Entry(key: key, value: value, reason: reason)) }
  }
}

/// A clock that stands still until a test moves it.
final class TestClock: Sendable {
  private let time = Mutex(Duration.zero)

  var now: Duration { time.withLock { $0 } }

  func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

extension URLSessionConfiguration {
  /// How long requests of tests wait, in seconds: far above what they take on a machine that does much else.
  static var patience: TimeInterval { 1_800 }

  /// As ``ephemeral``, for tests.
  static var patient: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = patience
    return configuration
  }
}

#if STEAD_THREAD_SANITIZER
  import SteadFiles

  typealias Mutex<Value> = SanitizedMutex<Value>
#endif
