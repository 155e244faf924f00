#if Server
import ServiceLifecycle
import Synchronization

/// Requests that wait for changes of zones.
///
/// A waiting request costs only one entry here: no thread, no timer and no connection to the database.
///
/// Invariant: each continuation is resumed once. Whoever removes an entry under the mutex resumes it, after the mutex
/// was released, because resuming can run the request's code. Thread-safe.
final class WaitHub: Sendable {
  /// The maximum number of zones for which one request may wait.
  static let maximumZones = 200

  /// A request that waits: for another head of one of its zones, until a deadline.
  private struct Waiter {
    var zones: [String: Int64]
    var deadline: ContinuousClock.Instant
    var continuation: CheckedContinuation<[String], Never>
  }

  /// Guarded by the mutex. `byZone` has the identifiers of `waiters` by each of their zones, and no empty sets.
  private struct State {
    var waiters: [UInt64: Waiter] = [:]
    var byZone: [String: Set<UInt64>] = [:]
    var next: UInt64 = 0
    var isClosed = false

    /// Removes a request from both dictionaries; nil if it was answered already.
    mutating func remove(_ id: UInt64) -> Waiter? {
      guard let waiter = waiters.removeValue(forKey: id) else { return nil }
      for zone in waiter.zones.keys {
        byZone[zone]?.remove(id)
        if byZone[zone]?.isEmpty ?? false { byZone[zone] = nil }
      }
      return waiter
    }
  }

  private let state = Mutex(State())

  /// Waits until one or more of the zones have another head than the given one, and returns these zones. Returns none
  /// at the deadline, on cancellation of the task and when the server shuts down.
  ///
  /// `afterwards` is called once the request waits. It must check the heads again: they may have moved before.
  func wait(
    for zones: [String: Int64], until deadline: ContinuousClock.Instant,
    afterwards: @escaping @Sendable () -> Void
  ) async -> [String] {
    // First of all, since a cancellation needs it even before there is an entry.
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isWaiting = state.withLock { state in
          // The handler of the cancellation may have run already, and found no entry to remove.
          if state.isClosed || Task.isCancelled { return false }
          state.waiters[id] = Waiter(
            zones: zones, deadline: deadline, continuation: continuation)
          for zone in zones.keys { state.byZone[zone, default: []].insert(id) }
          return true
        }
        // Outside the mutex: `afterwards` may call ``moved(_:)``.
        if isWaiting { afterwards() } else { continuation.resume(returning: []) }
      }
    } onCancel: {
      state.withLock { $0.remove(id) }?.continuation.resume(returning: [])
    }
  }

  /// Answers requests that wait for another head than this one. A lower head also counts: the server has lost
  /// changes, and the device has to learn that. Costs time for the requests that wait for these zones.
  func moved(_ heads: [String: Int64]) {
    let answers = state.withLock { state in
      var moved: [UInt64: [String]] = [:]
      for (zone, head) in heads {
        // An identifier in `byZone` has a waiter for this zone, so the default is never used.
        for id in state.byZone[zone] ?? [] where state.waiters[id]?.zones[zone] ?? head != head {
          moved[id, default: []].append(zone)
        }
      }
      return moved.compactMap { id, zones in state.remove(id).map { ($0.continuation, zones) } }
    }
    for (continuation, zones) in answers { continuation.resume(returning: zones.sorted()) }
  }

  /// Answers the requests whose deadline has passed. Costs a look at each request that waits.
  func expire(at now: ContinuousClock.Instant) {
    let over = state.withLock { state in
      state.waiters.filter { $0.value.deadline <= now }.keys.compactMap { state.remove($0) }
    }
    for waiter in over { waiter.continuation.resume(returning: []) }
  }

  /// Answers all requests, present and future, with no zones. Otherwise a shutdown would take as long as the longest
  /// wait.
  func close() {
    let all = state.withLock { state in
      state.isClosed = true
      return state.waiters.keys.compactMap { state.remove($0) }
    }
    for waiter in all { waiter.continuation.resume(returning: []) }
  }

  /// The zones for which requests wait.
  var zones: [String] { state.withLock { Array($0.byZone.keys) } }

  /// Requests that wait.
  var count: Int { state.withLock { $0.waiters.count } }
}

/// Ends waits whose deadline has passed, and looks for changes by other servers of the same database.
struct Waking: Service {
  /// The interval between two checks of the heads, in milliseconds.
  static let interval = 50

  let server: SyncServer

  func run() async throws {
    // Other servers may write to a PostgreSQL database. The pushes to this one tell the hub
    // themselves.
    let asks = if case .postgreSQL = server.engine.location { true } else { false }
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        server.hub.expire(at: .now)
        if asks { await look() }
        // Cancelled when the server ends.
        try? await Task.sleep(for: .milliseconds(Self.interval))
      }
    }
    server.hub.close()
  }

  /// Reads the heads of all zones for which requests wait. It polls, since PostgreSQL's notifications are among what
  /// the server doesn't use: see ``SQLSession``.
  private func look() async {
    let zones = server.hub.zones
    guard !zones.isEmpty else { return }
    // The next check is soon, and requests report the database's errors.
    let heads = try? await server.engine.read { try Zones.heads(zones, in: $0) }
    server.hub.moved(heads ?? [:])
  }
}
#endif
