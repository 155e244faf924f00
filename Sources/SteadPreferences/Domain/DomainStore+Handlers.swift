import Foundation
import SteadFiles

extension DomainStore {
  /// Delivers other processes' changes, and what reads have found, on a thread of its own.
  static let deliveries = SerialCalls()

  /// Calls `handler` after each change, in order, until ``removeHandler(_:)``.
  ///
  /// It is called on the thread that wrote; for changes by other processes on a background thread.
  /// The first handler makes the journal notify this process of their writes.
  func addHandler(_ handler: @escaping @Sendable (DomainEvent) -> Void) -> UInt64 {
    subscribe(handler).token
  }

  /// As ``addHandler(_:)``, and returns the number of the last event that the handler will not get.
  ///
  /// With that number an observer of several domains can tell which events its own look-ups already
  /// include.
  func subscribe(
    _ handler: @escaping @Sendable (DomainEvent) -> Void
  ) -> (token: UInt64, received: UInt64) {
    let (token, received, hasPendingEvents) = state.withLock { state -> (UInt64, UInt64, Bool) in
      // What was written before must not be delivered to the new handler.
      if let file = state.file { _ = state.catchUp(file) }
      state.lastHandler += 1
      state.handlers[state.lastHandler] = handler
      // Being notified costs the writers of other processes 2 us, so only while there are handlers.
      // A plain file's changes are found by its watch, as edits by hand are.
      if state.handlers.count == 1, let file = state.file, !file.isPlain {
        do {
          try file.journal.listen()
        } catch {
          file.problems.add(PreferencesError(error, domain: name))
        }
      }
      // Events that wait are delivered to the new handler, too.
      let received = state.pendingEvents.first.map { $0.number - 1 } ?? state.lastEvent
      return (state.lastHandler, received, state.hasPendingEvents)
    }
    if hasPendingEvents { deliverLater() }
    startWatching()
    return (token, received)
  }

  /// Reverts ``addHandler(_:)``; a running call may still finish.
  func removeHandler(_ token: UInt64) {
    // The handler's captures may have locks of their own, so they are released without this one.
    let removed = state.withLock { state in
      let removed = state.handlers.removeValue(forKey: token)
      if removed != nil, state.handlers.isEmpty { state.file?.journal.stopListening() }
      return removed
    }
    // Released here, without the lock.
    withExtendedLifetime(removed) {}
  }

  /// Calls `handler` with errors that no call could throw, including those already waiting.
  func addProblemHandler(
    _ handler: @escaping @Sendable (PreferencesError) -> Void
  ) -> UInt64 {
    let token = state.withLock { state -> UInt64 in
      state.lastHandler += 1
      state.problemHandlers[state.lastHandler] = handler
      return state.lastHandler
    }
    deliver()
    return token
  }

  /// Reverts ``addProblemHandler(_:)``.
  func removeProblemHandler(_ token: UInt64) {
    let removed = state.withLock { state in state.problemHandlers.removeValue(forKey: token) }
    withExtendedLifetime(removed) {}
  }

  // MARK: - Delivery

  /// Calls the handlers with waiting problems and events. Never called with a lock held.
  ///
  /// One thread at a time delivers events, so that handlers see them in order. A handler that
  /// writes adds an event, which the delivering thread takes in its next iteration: calls do not
  /// nest.
  func deliver() {
    let (problems, problemHandlers) = state.withLock { state in state.takeProblems() }
    for problem in problems {
      for handler in problemHandlers { handler(problem) }
    }
    while let (event, handlers) = state.withLock({ state in state.nextEvent() }) {
      // Without the lock: a handler may read, write, and remove itself.
      for handler in handlers { handler(event) }
      state.withLock { state in
        state.eventInDelivery = nil
        state.deliveryToken.release()
      }
    }
  }

  /// Calls ``deliver()`` on another thread: the current one has only read, and may hold locks of
  /// its program.
  func deliverLater() {
    Self.deliveries.call {
      self.deliver()
      self.writeDeferred()
    }
  }

  /// Writes what a read has found to be missing in the files: it could not do so itself, since
  /// another process was writing.
  private func writeDeferred() {
    guard state.withLock({ $0.file?.hasDeferredRestoration ?? false }) else { return }
    // If a stopped process has the lock, the next write defers the values.
    try? changing { replay, file in try file?.writeDeferred(&replay) }
  }
}

extension DomainStore.State {
  /// Takes the next event, and the token with it; nil when there is none, or another thread
  /// delivers.
  fileprivate mutating func nextEvent() -> (DomainEvent, [@Sendable (DomainEvent) -> Void])? {
    guard !pendingEvents.isEmpty, deliveryToken.acquire() else { return nil }
    let event = pendingEvents.removeFirst()
    eventInDelivery = event
    return (event, handlers.sorted { $0.key < $1.key }.map(\.value))
  }

  /// Takes the waiting problems, with the handlers that get them.
  fileprivate mutating func takeProblems() -> (
    [PreferencesError], [@Sendable (PreferencesError) -> Void]
  ) {
    // Without a handler they wait. Most occur while opening, before a handler can exist.
    guard let file, !file.problems.isEmpty, !problemHandlers.isEmpty else { return ([], []) }
    return (file.problems.take(), problemHandlers.sorted { $0.key < $1.key }.map(\.value))
  }
}

extension DomainStore {
  /// The value that a key had right after an event.
  ///
  /// The table may be ahead of what has been delivered. The oldest later event that changes the key
  /// has the value in question as its old one.
  ///
  /// - Parameter received: The number of the event.
  func value(forKey key: String, afterEvent received: UInt64) -> PropertyList? {
    state.withLock { state in
      // In order, so the first that changes the key comes next after `received`.
      for event in [state.eventInDelivery].compactMap(\.self) + state.pendingEvents
      where event.number > received {
        for change in event.changes where change.key.isSameText(as: key) { return change.old }
      }
      return state.table[key]
    }
  }
}

// MARK: - Events

/// The changes of one write, or those found by one read of the files.
struct DomainEvent: Sendable {
  /// The change of one key.
  struct Change: Sendable {
    var key: String
    var old: PropertyList?
    var new: PropertyList?
  }

  /// The event's number in its domain, from 1 on.
  var number: UInt64
  var changes: [Change]
  /// Whether this process wrote it.
  var isOwn: Bool
}

/// The right to deliver events: one thread at a time has it, so that handlers get them in order.
///
/// Accessed under a lock. The child of a fork lacks the thread that had the token, so there it is
/// free: the token names the process by its number of forks.
struct DeliveryToken: Sendable {
  private var generation: UInt64?

  /// Takes the token; false when another thread, or a caller of this one, has it.
  mutating func acquire() -> Bool {
    let current = forkGeneration
    guard generation != current else { return false }
    generation = current
    return true
  }

  mutating func release() { generation = nil }
}

/// Passes the problems of one domain at a time to a handler, until it is released.
final class ProblemSubscription: Sendable {
  private struct Followed: Sendable {
    var store: DomainStore
    var token: UInt64
  }

  private let followed = ForkSafeLock<Followed?>(nil)
  private let handler: @Sendable (PreferencesError) -> Void

  init(_ handler: @escaping @Sendable (PreferencesError) -> Void) {
    self.handler = handler
  }

  deinit { end(followed.withLock { $0 }) }

  /// Switches to another domain. Problems that wait there are reported at once.
  func subscribe(to store: DomainStore) {
    guard followed.withLock({ $0?.store }) !== store else { return }
    // Without the lock, since problems that wait are passed to the program's handler at once.
    var followed: Followed? = Followed(store: store, token: store.addProblemHandler(handler))
    self.followed.withLock { swap(&$0, &followed) }
    end(followed)
  }

  private func end(_ followed: Followed?) {
    if let followed { followed.store.removeProblemHandler(followed.token) }
  }
}
