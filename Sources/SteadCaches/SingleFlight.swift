import Synchronization

/// Loads each value once for all simultaneous requests.
///
/// A load runs in a separate task. Each waiter can be cancelled on its own; the load is cancelled when nobody waits for
/// it any more. A loaded value is kept unless the key was forgotten while the load ran.
///
/// A load that asks for its own key waits for itself, for ever.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// Work that is left for when no lock is held, such as calling handlers.
  typealias Afterwards = @Sendable () -> Void

  private let flights = Mutex<[Key: Flight<Value>]>([:])
  /// How many flights exist, for callers that only need to know that there are none.
  private let flightCount = Atomic<Int>(0)

  /// The value of the load for a key, which begins when none runs.
  ///
  /// The load's task has the task-local values of the call that begins it, and the greatest priority of the
  /// calls that wait for it, where the system can raise it.
  ///
  /// - Parameters:
  ///   - load: Loads the value. It looks into the cache again first, since another load may have ended between the
  ///     caller's look-up and this call.
  ///   - keep: Stores the loaded value if the ticket is still valid, which it checks under the lock of what it stores
  ///     into. It must not run user code.
  ///   - unwanted: Called with a loaded value that no call returns, since all have been cancelled.
  /// - Throws: What `load` throws, and `CancellationError` when the caller's task is cancelled.
  func value(
    for key: Key,
    load: @escaping @Sendable () async throws -> Value,
    keep: @escaping @Sendable (Value, LoadTicket) -> Afterwards?,
    unwanted: @escaping @Sendable (Value) -> Void = { _ in }
  ) async throws -> Value {
    let waiter = Waiter<Value>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard waiter.begin(continuation) else { return }
        let flight = join(key, waiter, load, keep, unwanted).flight
        // A cancellation that came before the waiter had its flight has left nothing.
        if !waiter.board({ self.leave(flight, waiter, key) }) { leave(flight, waiter, key) }
      }
    } onCancel: {
      waiter.cancel()
    }
  }

  /// Begins a load that nobody needs to wait for, before this call returns: a later change of the key makes it have no
  /// effect.
  ///
  /// - Returns: False if a load for the key runs already; then this one isn't needed.
  func begin(
    for key: Key, load: @escaping @Sendable () async throws -> Value,
    keep: @escaping @Sendable (Value, LoadTicket) -> Afterwards?
  ) -> Bool {
    // One that waits for nothing, but keeps the load from being cancelled when others leave.
    let waiter = Waiter<Value>()
    return join(key, waiter, load, keep, { _ in }).isNew
  }

  /// Makes sure that no load that runs now is kept, and that the next call begins another one.
  ///
  /// Called after a key was set or removed, under the same lock under which `keep` checks its ticket: a load that began
  /// before may not have seen the change, and one that begins later sees it. Earlier waiters still get what their load
  /// returns.
  ///
  /// - Returns: What must be dropped once no lock is held.
  @discardableResult func forget(_ key: Key) -> (any AnyObject & Sendable)? {
    // A load counts before it looks into what was changed, so one that isn't counted yet sees the change.
    guard flightCount.load(ordering: .sequentiallyConsistent) > 0 else { return nil }
    let forgotten = flights.withLock { flights -> Forgotten? in
      guard let index = flights.index(forKey: key) else { return nil }
      defer { flightCount.store(flights.count, ordering: .sequentiallyConsistent) }
      return Forgotten([flights.remove(at: index)])
    }
    for entry in forgotten?.entries ?? [] { entry.value.ticket.cancel() }
    return forgotten
  }

  /// Does for all keys what ``forget(_:)`` does for one.
  @discardableResult func forgetAll() -> any AnyObject & Sendable {
    let forgotten = flights.withLock { flights in
      defer {
        flights = [:]
        flightCount.store(0, ordering: .sequentiallyConsistent)
      }
      return Forgotten(Array(flights))
    }
    for entry in forgotten.entries { entry.value.ticket.cancel() }
    return forgotten
  }

  /// Loads that can't be joined any more. Their keys may be objects with a user-defined `deinit`.
  private final class Forgotten: Sendable {
    let entries: [(key: Key, value: Flight<Value>)]
    init(_ entries: [(key: Key, value: Flight<Value>)]) { self.entries = entries }
  }

  /// How many loads can be joined.
  var count: Int { flights.withLock { $0.count } }

  /// How many calls wait for a key's load, of those that can be joined.
  func waiterCount(for key: Key) -> Int { flights.withLock { $0[key]?.waiterCount ?? 0 } }

  private func join(
    _ key: Key, _ waiter: Waiter<Value>,
    _ load: @escaping @Sendable () async throws -> Value,
    _ keep: @escaping @Sendable (Value, LoadTicket) -> Afterwards?,
    _ unwanted: @escaping @Sendable (Value) -> Void
  ) -> (flight: Flight<Value>, isNew: Bool) {
    flights.withLock { flights in
      if let found = flights[key], found.add(waiter) { return (found, false) }
      // What was found is over.
      let flight = Flight<Value>(waiter)
      flights[key] = flight
      flightCount.store(flights.count, ordering: .sequentiallyConsistent)
      flight.start {
        let result: Result<Value, any Error>
        do {
          result = .success(try await load())
        } catch {
          result = .failure(error)
        }
        var afterwards: Afterwards?
        if case .success(let value) = result { afterwards = keep(value, flight.ticket) }
        self.remove(flight, for: key)
        afterwards?()
        let isDelivered = flight.finish(result)
        if !isDelivered, case .success(let value) = result { unwanted(value) }
      }
      return (flight, true)
    }
  }

  private func leave(_ flight: Flight<Value>, _ waiter: Waiter<Value>, _ key: Key) {
    if flight.remove(waiter) { remove(flight, for: key) }
  }

  private func remove(_ flight: Flight<Value>, for key: Key) {
    let removed = flights.withLock { flights -> Forgotten? in
      // The flight may have been forgotten, and another may have the key.
      guard let index = flights.index(forKey: key), flights[index].value === flight else {
        return nil
      }
      defer { flightCount.store(flights.count, ordering: .sequentiallyConsistent) }
      return Forgotten([flights.remove(at: index)])
    }
    withExtendedLifetime(removed) {}
  }
}

/// One load, and its waiters.
private final class Flight<Value: Sendable>: Sendable {
  private struct State {
    var waiters: [ObjectIdentifier: Waiter<Value>]
    var task: Task<Void, Never>?
    var priority = Task.currentPriority
    /// Nobody waits for it any more, or it has a result: nobody can join it.
    var isOver = false
  }

  let ticket = LoadTicket()
  private let state: Mutex<State>

  init(_ waiter: Waiter<Value>) {
    state = Mutex(State(waiters: [ObjectIdentifier(waiter): waiter]))
  }

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
      // A load that continues although it is cancelled must not be kept over a value that is set later.
      ticket.cancel()
      return state.task
    }
    task?.cancel()
    return task != nil
  }

  /// Whether any call returns the result.
  func finish(_ result: Result<Value, any Error>) -> Bool {
    let waiters = state.withLock { state in
      state.isOver = true
      state.task = nil
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    return waiters.reduce(false) { isDelivered, waiter in
      waiter.deliver(result) || isDelivered
    }
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

  /// Whether there is anything to wait for; if it was cancelled before it began, false, and the call ends.
  func begin(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
    let isNew = state.withLock { state in
      guard case .new = state else { return false }
      state = .waiting(continuation)
      return true
    }
    if !isNew { continuation.resume(throwing: CancellationError()) }
    return isNew
  }

  /// Stores how to leave the flight; false if the call has ended in the meantime.
  func board(_ leave: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard case .waiting(let continuation) = state else { return false }
      state = .aboard(continuation, leave: leave)
      return true
    }
  }

  func cancel() {
    let old = finish()
    old.continuation?.resume(throwing: CancellationError())
    old.leave?()
  }

  /// Ends the call with a result; false if it has ended before.
  func deliver(_ result: Result<Value, any Error>) -> Bool {
    guard let continuation = finish().continuation else { return false }
    continuation.resume(with: result)
    return true
  }

  /// Ends the call: what returns from it, and how it leaves the flight.
  private func finish() -> (
    continuation: CheckedContinuation<Value, any Error>?, leave: (@Sendable () -> Void)?
  ) {
    let old = state.withLock { state in
      defer { state = .finished }
      return state
    }
    switch old {
    case .new, .finished: return (nil, nil)
    case .waiting(let continuation): return (continuation, nil)
    case .aboard(let continuation, let leave): return (continuation, leave)
    }
  }
}

// MARK: - Tickets

/// Whether a load's result may be kept.
@usableFromInline final class LoadTicket: Sendable {
  private let isCancelled = Atomic<Bool>(false)

  /// False once the key was set or removed, or nobody waits for the load any more.
  @usableFromInline var isValid: Bool { !isCancelled.load(ordering: .acquiring) }

  func cancel() { isCancelled.store(true, ordering: .releasing) }
}

#if STEAD_THREAD_SANITIZER
  import SteadFiles

  /// In all files of the module.
  typealias Mutex<Value> = SanitizedMutex<Value>
#endif
