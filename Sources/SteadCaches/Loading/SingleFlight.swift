import Synchronization

/// Loads each value once for all who ask for it at the same time.
///
/// A load runs in a task of its own. Whoever waits can be cancelled by themselves; the load is cancelled when
/// nobody waits for it any more. What is loaded is kept unless the key was forgotten while the load ran.
///
/// A load that asks for its own key waits for itself, for ever.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// What is left to do once no lock is held, such as calling handlers.
  typealias Afterwards = @Sendable () -> Void

  private let flights = Mutex<[Key: Flight<Value>]>([:])

  /// The value of the load for a key, which begins when none runs.
  ///
  /// The load's task has the task-local values of the call that begins it, and the greatest priority of the
  /// calls that wait for it, where the system can raise it.
  ///
  /// - Parameters:
  ///   - load: Loads the value. It looks into the cache again first, since another load may have ended between
  ///     the caller's look and this call.
  ///   - keep: Stores what was loaded. No call of ``forget(_:)`` for the key returns while it runs, and it is
  ///     not called after one. It must not call back into this object, nor run a user's code.
  /// - Throws: What `load` throws, and `CancellationError` when the caller's task is cancelled.
  func value(
    for key: Key,
    load: @escaping @Sendable () async throws -> Value,
    keep: @escaping @Sendable (Value) -> Afterwards?
  ) async throws -> Value {
    let waiter = Waiter<Value>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard waiter.begin(continuation) else { return }
        let flight = join(key, waiter, load, keep)
        // A cancellation that came before the waiter had its flight has left nothing.
        if !waiter.board({ self.leave(flight, waiter, key) }) { leave(flight, waiter, key) }
      }
    } onCancel: {
      waiter.cancel()
    }
  }

  /// Makes sure that no load that runs now is kept, and that the next call begins another one.
  ///
  /// Called before a key is set or removed: a load that begins after this call sees all that its caller has
  /// changed before. Those who wait already still get what their load returns.
  func forget(_ key: Key) {
    flights.withLock { $0.isEmpty ? nil : $0.removeValue(forKey: key) }?.forget()
  }

  /// Does for all keys what ``forget(_:)`` does for one.
  func forgetAll() {
    let all = flights.withLock { flights in
      defer { flights = [:] }
      return flights.values
    }
    for flight in all { flight.forget() }
  }

  /// How many loads can be joined.
  var count: Int { flights.withLock { $0.count } }

  /// How many calls wait for a key's load, of those that can be joined.
  func waiterCount(for key: Key) -> Int { flights.withLock { $0[key]?.waiterCount ?? 0 } }

  private func join(
    _ key: Key, _ waiter: Waiter<Value>,
    _ load: @escaping @Sendable () async throws -> Value,
    _ keep: @escaping @Sendable (Value) -> Afterwards?
  ) -> Flight<Value> {
    flights.withLock { flights in
      let found = flights[key]
      if let found, found.add(waiter) { return found }
      // What was found is over, and may be being kept at this moment.
      let flight = Flight<Value>(waiter, after: found)
      flights[key] = flight
      flight.start {
        let result: Result<Value, any Error>
        do {
          result = .success(try await load())
        } catch {
          result = .failure(error)
        }
        let afterwards = flight.keep(result, by: keep)
        self.remove(flight, for: key)
        afterwards?()
        flight.finish(result)
      }
      return flight
    }
  }

  private func leave(_ flight: Flight<Value>, _ waiter: Waiter<Value>, _ key: Key) {
    // The flight may have been forgotten, and another may have the key.
    guard flight.remove(waiter) else { return }
    // A load that goes on although it was cancelled must not be kept over what is set later. Until what is being
    // kept is kept, the flight can be found.
    flight.forget()
    remove(flight, for: key)
  }

  private func remove(_ flight: Flight<Value>, for key: Key) {
    flights.withLock { if $0[key] === flight { $0[key] = nil } }
  }
}

/// One load, and those who wait for it.
private final class Flight<Value: Sendable>: Sendable {
  private struct State {
    var waiters: [ObjectIdentifier: Waiter<Value>]
    var task: Task<Void, Never>?
    var priority = Task.currentPriority
    /// Nobody waits for it any more, or it has a result: nobody can join it.
    var isOver = false
  }

  private let state: Mutex<State>
  /// Whether the result may be kept. A lock of its own, held while the result is being kept.
  private let isWanted = Mutex(true)
  /// The flight in whose place this one is, until it is forgotten.
  private let previous: Mutex<Flight?>

  init(_ waiter: Waiter<Value>, after previous: Flight?) {
    state = Mutex(State(waiters: [ObjectIdentifier(waiter): waiter]))
    self.previous = Mutex(previous)
  }

  /// Whether nobody can join it.
  private var isOver: Bool { state.withLock { $0.isOver } }

  var waiterCount: Int { state.withLock { $0.waiters.count } }

  func start(_ work: @escaping @Sendable () async -> Void) {
    state.withLock { $0.task = Task(operation: work) }
  }

  /// Whether the waiter gets this flight's result.
  func add(_ waiter: Waiter<Value>) -> Bool {
    let priority = Task.currentPriority
    let (isAdded, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
      if state.isOver { return (false, nil) }
      state.waiters[ObjectIdentifier(waiter)] = waiter
      guard priority > state.priority else { return (true, nil) }
      state.priority = priority
      return (true, state.task)
    }
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      task?.escalatePriority(to: priority)
    }
    return isAdded
  }

  /// Whether that was the last one, so that the load is cancelled.
  func remove(_ waiter: Waiter<Value>) -> Bool {
    let task: Task<Void, Never>? = state.withLock { state in
      let isOneOfThem = state.waiters.removeValue(forKey: ObjectIdentifier(waiter)) != nil
      guard isOneOfThem, state.waiters.isEmpty, !state.isOver else { return nil }
      state.isOver = true
      return state.task
    }
    task?.cancel()
    return task != nil
  }

  func forget() {
    let previous = previous.withLock { previous in
      defer { previous = nil }
      return previous
    }
    previous?.forget()
    isWanted.withLock { $0 = false }
  }

  func keep(
    _ result: Result<Value, any Error>, by keep: (Value) -> (@Sendable () -> Void)?
  ) -> (@Sendable () -> Void)? {
    guard case .success(let value) = result else { return nil }
    return isWanted.withLock { $0 && !isOver ? keep(value) : nil }
  }

  func finish(_ result: Result<Value, any Error>) {
    let waiters = state.withLock { state in
      state.isOver = true
      state.task = nil
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.finish(result) }
  }
}

/// One call that waits for a value.
private final class Waiter<Value: Sendable>: Sendable {
  private enum State {
    case new
    case waiting(CheckedContinuation<Value, any Error>)
    /// It waits for a flight, which it can leave.
    case aboard(CheckedContinuation<Value, any Error>, leave: @Sendable () -> Void)
    case finished
  }

  private let state = Mutex(State.new)

  /// Whether there is anything to wait for; false, and the call ends, when it was cancelled before it began.
  func begin(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
    let isNew = state.withLock { state in
      guard case .new = state else { return false }
      state = .waiting(continuation)
      return true
    }
    if !isNew { continuation.resume(throwing: CancellationError()) }
    return isNew
  }

  /// Tells how to leave the flight; false when the call has ended meanwhile.
  func board(_ leave: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard case .waiting(let continuation) = state else { return false }
      state = .aboard(continuation, leave: leave)
      return true
    }
  }

  func cancel() { finish(.failure(CancellationError()))?() }

  /// Ends the call, and returns how to leave the flight.
  @discardableResult func finish(_ result: Result<Value, any Error>) -> (@Sendable () -> Void)? {
    let old = state.withLock { state in
      defer { state = .finished }
      return state
    }
    switch old {
    case .new, .finished: return nil
    case .waiting(let continuation):
      continuation.resume(with: result)
      return nil
    case .aboard(let continuation, let leave):
      continuation.resume(with: result)
      return leave
    }
  }
}
