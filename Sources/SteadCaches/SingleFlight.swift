import Synchronization

/// Loads each value once for all concurrent requests (request coalescing).
///
/// A load runs in a task of its own. Each waiter can be cancelled on its own; the load is cancelled
/// when nobody waits for it any more. A loaded value is stored unless the key was forgotten while
/// the load ran.
///
/// A load that requests its own key waits for itself, for ever; nothing detects that.
///
/// How a load and a change of the key are ordered:
/// 1. A load is in the table, and counted, before it reads anything.
/// 2. A change is made first, and then calls ``forget(_:)``, which cancels the load's ticket.
/// 3. The loaded value is stored under the lock of what it is stored into, only if the ticket is
///    still valid.
///
/// So a load either begins after the change and sees it, or its value is not stored. Callers that
/// waited already get what was loaded: they called before the change was complete.
///
/// Locks: the table's may be held while a load's and then a waiter's is acquired, not the reverse.
/// No user code, such as a `deinit` of a key or value, runs while one is held.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// Work that is done after all locks are released, such as calling handlers.
  typealias Afterwards = @Sendable () -> Void

  private let loads = Mutex<[Key: Load<Value>]>([:])
  /// The number of loads, so that ``forget(_:)`` costs one atomic load when there are none.
  private let loadCount = Atomic<Int>(0)

  /// Returns the value of the load for a key, which starts if none is running.
  ///
  /// The load's task has the task-local values of the call that begins it, and the greatest
  /// priority of the calls that wait for it, where the system can raise it.
  ///
  /// - Parameters:
  ///   - load: Loads the value. It must look into the cache again first, since another load may
  ///     have ended between the caller's look-up and this call.
  ///   - keep: Stores the loaded value if the ticket is valid, which it checks under the lock of
  ///     what it stores into. It must not run user code.
  ///   - unwanted: Called with a loaded value that no call returns, since all were cancelled.
  /// - Throws: What `load` throws, and `CancellationError` when the caller's task is cancelled.
  func value(
    for key: Key,
    load: @escaping @Sendable () async throws -> Value,
    keep: @escaping @Sendable (Value, LoadTicket) -> Afterwards?,
    unwanted: @escaping @Sendable (Value) -> Void = { _ in }
  ) async throws -> Value {
    let waiter = Waiter<Value>()
    return try await waiter.result {
      let running = self.join(key, waiter, load, keep, unwanted).running
      return { self.detach(running, waiter, key) }
    }
  }

  /// Starts a load that nobody needs to wait for. It is in the table when this returns, so a later
  /// change of the key cancels its ticket.
  ///
  /// - Returns: False if a load for the key is running already; then this one isn't started.
  func begin(
    for key: Key, load: @escaping @Sendable () async throws -> Value,
    keep: @escaping @Sendable (Value, LoadTicket) -> Afterwards?
  ) -> Bool {
    // A waiter without a continuation, which keeps the load from being cancelled when the others
    // leave.
    let waiter = Waiter<Value>()
    return join(key, waiter, load, keep, { _ in }).isNew
  }

  /// Keeps the value of a load that is running now from being stored, and lets the next call start
  /// another load.
  ///
  /// Call it after a key was set or removed, under the same lock under which `keep` checks its
  /// ticket. Waiters still get what their load returns.
  ///
  /// - Returns: An object to release once no lock is held: its keys may have a `deinit` of the
  ///   program.
  @discardableResult func forget(_ key: Key) -> (any AnyObject & Sendable)? {
    // Sequentially consistent, as the change before it: a load is counted before it reads what was
    // changed, so a load that isn't counted here sees the change.
    guard loadCount.load(ordering: .sequentiallyConsistent) > 0 else { return nil }
    let forgotten = loads.withLock { loads -> Forgotten? in
      // `remove(at:)` returns the table's own key, whose last reference may be here.
      guard let index = loads.index(forKey: key) else { return nil }
      defer { loadCount.store(loads.count, ordering: .sequentiallyConsistent) }
      // Out of the table, so that a later call begins a load that sees the change.
      return Forgotten([loads.remove(at: index)])
    }
    for entry in forgotten?.entries ?? [] { entry.value.ticket.cancel() }
    return forgotten
  }

  /// Forgets all keys, as ``forget(_:)`` does one.
  @discardableResult func forgetAll() -> any AnyObject & Sendable {
    let forgotten = loads.withLock { loads in
      defer {
        loads = [:]
        loadCount.store(0, ordering: .sequentiallyConsistent)
      }
      return Forgotten(Array(loads))
    }
    for entry in forgotten.entries { entry.value.ticket.cancel() }
    return forgotten
  }

  /// Loads that were removed from the table.
  private final class Forgotten: Sendable {
    let entries: [(key: Key, value: Load<Value>)]
    init(_ entries: [(key: Key, value: Load<Value>)]) { self.entries = entries }
  }

  /// How many loads can be joined.
  var count: Int { loads.withLock { $0.count } }

  /// How many calls wait for a key's load, of those that can be joined.
  func waiterCount(for key: Key) -> Int { loads.withLock { $0[key]?.waiterCount ?? 0 } }

  /// Adds a waiter to the load of a key, or begins one with it.
  ///
  /// Invariant: a load is in the table from before its task begins until its value is stored,
  /// unless it was forgotten or nobody waits.
  private func join(
    _ key: Key, _ waiter: Waiter<Value>,
    _ load: @escaping @Sendable () async throws -> Value,
    _ keep: @escaping @Sendable (Value, LoadTicket) -> Afterwards?,
    _ unwanted: @escaping @Sendable (Value) -> Void
  ) -> (running: Load<Value>, isNew: Bool) {
    // Found or added under one lock, so that two callers can't both begin a load.
    loads.withLock { loads in
      if let found = loads[key], found.add(waiter) { return (found, false) }
      // A load that was found is over, and about to remove itself.
      let running = Load<Value>(waiter)
      loads[key] = running
      loadCount.store(loads.count, ordering: .sequentiallyConsistent)
      // Counted before the task begins, and so before it reads anything: `forget` relies on that.
      running.start {
        let result: Result<Value, any Error>
        do {
          result = .success(try await load())
        } catch {
          result = .failure(error)
        }
        var afterwards: Afterwards?
        // Stored before the load leaves the table: a call in between either joins the load, or
        // finds the value.
        if case .success(let value) = result { afterwards = keep(value, running.ticket) }
        self.remove(running, for: key)
        // After `remove`: handlers are the program's code, and may request the same key.
        afterwards?()
        let isDelivered = running.finish(result)
        if !isDelivered, case .success(let value) = result { unwanted(value) }
      }
      return (running, true)
    }
  }

  private func detach(_ running: Load<Value>, _ waiter: Waiter<Value>, _ key: Key) {
    if running.remove(waiter) { remove(running, for: key) }
  }

  private func remove(_ running: Load<Value>, for key: Key) {
    let removed = loads.withLock { loads -> Forgotten? in
      // It may have been forgotten, and the key may have another load.
      guard let index = loads.index(forKey: key), loads[index].value === running else {
        return nil
      }
      defer { loadCount.store(loads.count, ordering: .sequentiallyConsistent) }
      return Forgotten([loads.remove(at: index)])
    }
    withExtendedLifetime(removed) {}
  }
}

/// One load, and its waiters.
private final class Load<Value: Sendable>: Sendable {
  private struct State {
    var waiters: [ObjectIdentifier: Waiter<Value>]
    var task: Task<Void, Never>?
    var priority = Task.currentPriority
    /// It has a result, or was cancelled since nobody waits any more: it can't be joined.
    var isOver = false
  }

  let ticket = LoadTicket()
  private let state: Mutex<State>

  init(_ waiter: Waiter<Value>) {
    state = Mutex(State(waiters: [ObjectIdentifier(waiter): waiter]))
  }

  var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Begins the load's task.
  func start(_ work: @escaping @Sendable () async -> Void) {
    // Made under the lock: `remove` and `finish` must not come before the task is there to cancel
    // or drop.
    state.withLock { $0.task = Task(operation: work) }
  }

  /// Adds a waiter, and raises the priority of the load to the caller's; false if the load is over.
  func add(_ waiter: Waiter<Value>) -> Bool {
    let priority = Task.currentPriority
    let (isAdded, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
      if state.isOver { return (false, nil) }
      state.waiters[ObjectIdentifier(waiter)] = waiter
      // Priorities are only raised: a waiter that leaves may have raised it for good.
      guard priority > state.priority else { return (true, nil) }
      state.priority = priority
      // Raised after the lock is released: a task's escalation handlers are the program's code.
      return (true, state.task)
    }
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      task?.escalatePriority(to: priority)
    }
    return isAdded
  }

  /// Removes a waiter, and cancels the load if that was the last one; returns whether it was.
  func remove(_ waiter: Waiter<Value>) -> Bool {
    let task: Task<Void, Never>? = state.withLock { state in
      let isOneOfThem = state.waiters.removeValue(forKey: ObjectIdentifier(waiter)) != nil
      guard isOneOfThem, state.waiters.isEmpty, !state.isOver else { return nil }
      state.isOver = true
      // A load may go on although its task is cancelled. Its value must not replace one that is set
      // later.
      ticket.cancel()
      return state.task
    }
    // After the lock: cancellation handlers of the load are the program's code.
    task?.cancel()
    return task != nil
  }

  /// Resumes all waiters; returns whether any call returns the result.
  func finish(_ result: Result<Value, any Error>) -> Bool {
    let waiters = state.withLock { state in
      // No waiter can be added from here on, so each one is resumed below or was cancelled.
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

// MARK: - Tickets

/// Whether the value of a load may be stored.
@usableFromInline final class LoadTicket: Sendable {
  private let isCancelled = Atomic<Bool>(false)

  /// False once the key was set or removed, or no caller waits for the load any more.
  @usableFromInline var isValid: Bool { !isCancelled.load(ordering: .acquiring) }

  func cancel() { isCancelled.store(true, ordering: .releasing) }
}

#if STEAD_THREAD_SANITIZER
  import SteadFiles

  /// In all files of the module.
  typealias Mutex<Value> = SanitizedMutex<Value>
#endif
