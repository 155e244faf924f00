import Foundation
import Observation
import SteadFiles
import Synchronization

/// The changes of a history since its consumer last received any.
///
/// An entry that was added and removed in between is in none of the lists.
public struct PayloadHistoryChange<Payload: Sendable>: Sendable {
  /// New payloads, newest first.
  public let inserted: [Payload]
  /// Changed payloads as they are now, newest first.
  public let updated: [Payload]
  /// Payloads that were removed, or dropped for the limit, as they last were; newest first.
  public let removed: [Payload]
  /// Whether this process made all of these changes.
  public let isOwn: Bool

  /// Makes a change.
  public init(inserted: [Payload], updated: [Payload], removed: [Payload], isOwn: Bool) {
    self.inserted = inserted
    self.updated = updated
    self.removed = removed
    self.isOwn = isOwn
  }
}

/// The changes of a history as an asynchronous sequence.
///
/// It begins when it is created, so changes before the first `await` are not missed. A consumer
/// that is slower than the changes gets one for everything since its last; so no more is pending
/// than the entries at that time and the current ones. Ends when the task is cancelled, or when the
/// history is released.
///
/// Each iterator gets all changes: the first since the sequence was created, others since their own
/// creation.
public struct PayloadHistoryChanges<Payload: Codable & Identifiable & Sendable>: AsyncSequence,
  Sendable
{
  /// Insertions, removals and updates.
  public typealias Element = PayloadHistoryChange<Payload>
  /// It cannot fail.
  public typealias Failure = Never

  fileprivate let subscriptions: ChangeSubscriptions<PendingHistoryChange>

  /// An iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscriptions.next()) }

  /// Returns changes as they occur.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: ChangeSubscription<PendingHistoryChange>

    /// The next change; nil once the task was cancelled.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// The next change; nil once the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await subscription.next(isolation: actor)?.change(of: Payload.self)
    }
  }
}

extension PayloadHistory {
  /// The changes of the history as they occur, including those of other processes.
  ///
  /// See ``PayloadHistoryChanges`` for what a slow consumer gets.
  public var changes: PayloadHistoryChanges<Payload> {
    PayloadHistoryChanges(
      subscriptions: ChangeSubscriptions { [weak self] receiver in
        guard let self else {
          receiver.finish()
          return {}
        }
        let id = receive(receiver)
        return { [weak self] in self?.stopReceiving(id) }
      })
  }

  private func receive(_ receiver: HistoryReceiver) -> UInt64 {
    // Deliver only changes made after registration.
    observation.begin(self)
    let core = cores.current
    catchUp(core)
    return core.withLock { state in
      state.lastReceiver += 1
      state.receivers[state.lastReceiver] = receiver
      return state.lastReceiver
    }
  }

  private func stopReceiving(_ id: UInt64) {
    let core = cores.current
    let removed = core.withLock { state in state.receivers.removeValue(forKey: id) }
    withExtendedLifetime(removed) {}
  }
}

// MARK: - Merging changes

typealias HistoryReceiver = ChangeBuffer<PendingHistoryChange>

/// The changes that a consumer has not taken yet, merged into one.
struct PendingHistoryChange: PendingChanges {
  private var delta: HistoryDelta?

  mutating func add(_ change: HistoryDelta) {
    if delta == nil { delta = change } else { delta?.add(change) }
  }

  mutating func take() -> HistoryDelta? {
    defer { delta = nil }
    return delta.flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// The difference between two states of a history, by entry.
///
/// Deltas can be added: of each entry, only the state before the first and after the last change
/// remains.
struct HistoryDelta: Sendable {
  private struct Step: Sendable {
    var before: AnyPayload?
    var after: AnyPayload?
  }

  private var steps: [UInt64: Step] = [:]
  private(set) var isOwn: Bool

  init(_ changes: [HistoryTable.Change], isOwn: Bool) {
    self.isOwn = isOwn
    for change in changes {
      let (before, after) = (change.before?.content.payload, change.after?.content.payload)
      if before == nil, after == nil { continue }
      steps[change.sequence] = Step(before: before, after: after)
    }
  }

  var isEmpty: Bool { steps.isEmpty }

  /// Adds a later delta. An entry that was added and removed in between disappears.
  mutating func add(_ next: HistoryDelta) {
    isOwn = isOwn && next.isOwn
    for (sequence, step) in next.steps {
      // The first change of this entry.
      guard let known = steps[sequence] else {
        steps[sequence] = step
        continue
      }
      let merged = Step(before: known.before, after: step.after)
      steps[sequence] = merged.before == nil && merged.after == nil ? nil : merged
    }
  }

  func change<Payload: Sendable>(of type: Payload.Type) -> PayloadHistoryChange<Payload> {
    let payload = PayloadBox<Payload>.payload
    // Newer entries have higher sequence numbers.
    let sorted = steps.sorted { $0.key > $1.key }.map(\.value)
    return PayloadHistoryChange(
      inserted: sorted.compactMap { $0.before == nil ? $0.after : nil }.map(payload),
      updated: sorted.compactMap { $0.before == nil ? nil : $0.after }.map(payload),
      removed: sorted.compactMap { $0.after == nil ? $0.before : nil }.map(payload), isOwn: isOwn)
  }
}

// MARK: - Observation

extension PayloadHistory: Observable {
  /// Never read; only its key path matters.
  subscript(probe: TrackingProbe) -> Void { () }

  /// Registers a read with Observation if it tracks; called before the read.
  func track() {
    let before = TrackingProbe.count.load(ordering: .relaxed)
    observation.registrar.access(self, keyPath: observation.probe)
    guard TrackingProbe.count.load(ordering: .relaxed) != before else { return }
    observation.registrar.access(self, keyPath: observation.items)
    observation.begin(self)
  }

  /// Notifies observers of waiting changes. Never called with a lock held.
  ///
  /// One thread at a time does this, so that all get changes in order. What a handler changes is
  /// delivered by the thread that called it, after it has returned.
  func deliver(_ core: HistoryCore) {
    problems.report()
    while let (delta, receivers) = core.withLock({ state in state.nextDelta() }) {
      if !delta.isEmpty {
        for receiver in receivers { receiver.add(delta) }
      }
      observation.registrar.withMutation(of: self, keyPath: observation.items) {}
      announceChange()
      core.withLock { state in state.deliveryToken.release() }
    }
  }
}

extension HistoryCore.State {
  fileprivate mutating func nextDelta() -> (
    HistoryDelta, [HistoryReceiver]
  )? {
    guard !pendingDeltas.isEmpty, deliveryToken.acquire() else { return nil }
    return (pendingDeltas.removeFirst(), receivers.sorted { $0.key < $1.key }.map(\.value))
  }
}

private enum HistoryQueue {
  /// Delivers changes of other processes, and of other histories in this one.
  static let calls = SerialCalls()
}

/// Connects a history with Observation, and with the domain's events.
final class HistoryObservation<Payload: Codable & Identifiable & Sendable>: Sendable {
  typealias History = PayloadHistory<Payload>

  let registrar = ObservationRegistrar()
  // Making a key path of a generic type takes longer than a read.
  let items: KeyPath<History, [Payload]> & Sendable = \History.items
  let probe: KeyPath<History, Void> & Sendable = \History.[TrackingProbe()]
  private let token = ForkSafeLock<UInt64?>(nil)
  private let hasBegun = Atomic<Bool>(false)

  /// Watches the domain, from the first call on.
  func begin(_ history: History) {
    // First, so that no change from here on is missed, whichever thread adds the handler.
    history.cores.current.withLock { $0.isObserved = true }
    // One handler for the history's life, however many observers come and go.
    guard !hasBegun.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let token = history.store.addHandler { [weak history] _ in
      // On another thread: the one that wrote may hold the history's lock.
      HistoryQueue.calls.call { [weak history] in history?.catchUp() }
    }
    self.token.withLock { $0 = token }
    history.catchUp()
  }

  func end(_ store: DomainStore) {
    if let token = token.withLock({ $0 }) { store.removeHandler(token) }
  }
}
