import Foundation
import SteadFiles

extension DomainStore {
  /// Where other processes' changes, and what reads have found, are delivered.
  static let deliveries = SerialCalls()

  /// Calls `handler` after each change, in order, until ``removeHandler(_:)``.
  ///
  /// It is called on the thread that wrote; for another process's changes on a background thread. The first
  /// handler starts the delivery of those.
  func addHandler(_ handler: @escaping @Sendable (DomainEvent) -> Void) -> UInt64 {
    subscribe(handler).token
  }

  /// As ``addHandler(_:)``, and returns the number of the last event that the handler will not receive.
  func subscribe(
    _ handler: @escaping @Sendable (DomainEvent) -> Void
  ) -> (token: UInt64, received: UInt64) {
    let (token, received, hasPendingEvents) = state.withLock { state -> (UInt64, UInt64, Bool) in
      // Deliver only changes made after registration.
      if let file = state.file { _ = state.catchUp(file) }
      state.lastHandler += 1
      state.handlers[state.lastHandler] = handler
      // A plain file's changes are reported as edits by hand are.
      if state.handlers.count == 1, let file = state.file, !file.isPlain {
        do {
          try file.journal.listen()
        } catch {
          file.problems.add(PreferencesError(error, domain: name))
        }
      }
      let received = state.pendingEvents.first.map { $0.number - 1 } ?? state.lastEvent
      return (state.lastHandler, received, state.hasPendingEvents)
    }
    if hasPendingEvents { deliverLater() }
    startWatching()
    return (token, received)
  }

  /// Reverts ``addHandler(_:)``; a running call may still finish.
  func removeHandler(_ token: UInt64) {
    // The handler's captures may have locks, so they are not released while this one is held.
    let removed = state.withLock { state in
      let removed = state.handlers.removeValue(forKey: token)
      if removed != nil, state.handlers.isEmpty { state.file?.journal.stopListening() }
      return removed
    }
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

  /// Notifies handlers of waiting events. Never called with the lock held.
  ///
  /// One thread at a time does this, so that handlers see changes in order.
  func deliver() {
    let (problems, problemHandlers) = state.withLock { state in state.takeProblems() }
    for problem in problems {
      for handler in problemHandlers { handler(problem) }
    }
    while let (event, handlers) = state.withLock({ state in state.nextEvent() }) {
      for handler in handlers { handler(event) }
      state.withLock { state in
        state.eventInDelivery = nil
        state.deliveryToken.release()
      }
    }
  }

  /// Calls ``deliver()`` later, since the current thread has only read, and may hold locks of its program.
  func deliverLater() {
    Self.deliveries.call {
      self.deliver()
      self.writeDeferred()
    }
  }

  /// Writes what a read has found missing in the files and could not write, since another process was writing.
  private func writeDeferred() {
    guard state.withLock({ $0.file?.hasDeferredRestoration ?? false }) else { return }
    // If a stopped process has the lock, the next write saves them.
    try? changing { replay, file in try file?.writeDeferred(&replay) }
  }
}

extension DomainStore.State {
  fileprivate mutating func nextEvent() -> (DomainEvent, [@Sendable (DomainEvent) -> Void])? {
    guard !pendingEvents.isEmpty, deliveryToken.acquire() else { return nil }
    let event = pendingEvents.removeFirst()
    eventInDelivery = event
    return (event, handlers.sorted { $0.key < $1.key }.map(\.value))
  }

  fileprivate mutating func takeProblems() -> (
    [PreferencesError], [@Sendable (PreferencesError) -> Void]
  ) {
    // Without a handler they wait. Most occur while opening, before a handler can exist.
    guard let file, !file.problems.isEmpty, !problemHandlers.isEmpty else { return ([], []) }
    return (file.problems.take(), problemHandlers.sorted { $0.key < $1.key }.map(\.value))
  }
}

extension DomainStore {
  /// The value that a key had after an event, whether later ones are being delivered or are waiting.
  ///
  /// - Parameter received: The number of the last event that the caller has received.
  func value(forKey key: String, afterEvent received: UInt64) -> PropertyList? {
    state.withLock { state in
      for event in [state.eventInDelivery].compactMap(\.self) + state.pendingEvents
      where event.number > received {
        for change in event.changes where change.key.isSameText(as: key) { return change.old }
      }
      return state.table[key]
    }
  }
}

// MARK: - Events

/// The changes of one write, or of one look at the file.
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

/// Which thread notifies observers: one at a time, so that they receive events in order.
///
/// Kept under a lock. The child of a fork lacks the thread whose turn it was, so there the turn is free.
struct DeliveryToken: Sendable {
  private var generation: UInt64?

  /// Takes the turn; false when another thread, or a caller of this one, has it.
  mutating func acquire() -> Bool {
    let current = forkGeneration
    guard generation != current else { return false }
    generation = current
    return true
  }

  mutating func release() { generation = nil }
}

/// Reports a domain's problems until it is released.
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

  /// Switches to a domain, including the problems already waiting there.
  func subscribe(to store: DomainStore) {
    guard followed.withLock({ $0?.store }) !== store else { return }
    var followed: Followed? = Followed(store: store, token: store.addProblemHandler(handler))
    self.followed.withLock { swap(&$0, &followed) }
    end(followed)
  }

  private func end(_ followed: Followed?) {
    if let followed { followed.store.removeProblemHandler(followed.token) }
  }
}
