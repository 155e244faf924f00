import Dispatch
import Foundation
import Observation
import SteadFiles
import Synchronization

/// How a history hears of what others change, and who reads it under Observation.
final class HistoryFollowing<Payload: Codable & Identifiable & Sendable>: Sendable {
  typealias History = PayloadHistory<Payload>

  let registrar = ObservationRegistrar()
  // Making a key path of a generic type takes longer than a read.
  let items: KeyPath<History, [Payload]> & Sendable = \History.items
  let probe: KeyPath<History, Void> & Sendable = \History.[TrackingProbe()]
  private let token = ForkSafeLock<UInt64?>(nil)
  private let hasBegun = Atomic<Bool>(false)

  /// Follows the domain from the first call on.
  func begin(_ history: History) {
    // First, so that no change is missed from here on, whoever adds the handler.
    history.cores.current.withLock { $0.isFollowed = true }
    guard !hasBegun.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let token = history.store.addHandler { [weak history] _ in
      // Not here: the thread that writes may hold the history's lock.
      HistoryQueue.queue.async { [weak history] in history?.catchUp() }
    }
    self.token.withLock { $0 = token }
    history.catchUp()
  }

  func end(_ store: DomainStore) {
    if let token = token.withLock({ $0 }) { store.removeHandler(token) }
  }
}

private enum HistoryQueue {
  /// Changes of other processes, and of other histories in this one, are told from here.
  static let queue = DispatchQueue(label: "stead.history", qos: .utility)
}

extension PayloadHistory: Observable {
  /// Never read; its key path is what counts.
  subscript(probe: TrackingProbe) -> Void { () }

  /// Tells Observation that the history is read; called once in each read, before it.
  func track() {
    let before = TrackingProbe.count.load(ordering: .relaxed)
    following.registrar.access(self, keyPath: following.probe)
    guard TrackingProbe.count.load(ordering: .relaxed) != before else { return }
    following.registrar.access(self, keyPath: following.items)
    following.begin(self)
  }

  /// Tells observers what has happened. Never called with a lock held.
  ///
  /// One thread at a time does this, so that all hear it in its order; what a handler changes is told
  /// by the thread that called it, when it has returned.
  func deliver(_ core: HistoryCore) {
    problems.report()
    while let (delta, receivers) = core.withLock({ state in state.nextMail() }) {
      if !delta.isEmpty {
        for receiver in receivers { receiver.add(delta) }
      }
      following.registrar.withMutation(of: self, keyPath: following.items) {}
      announceChange()
      core.withLock { state in state.turn.end() }
    }
  }
}

extension HistoryCore.State {
  fileprivate mutating func nextMail() -> (
    HistoryDelta, [HistoryReceiver]
  )? {
    guard !mail.isEmpty, turn.begin() else { return nil }
    return (mail.removeFirst(), receivers.sorted { $0.key < $1.key }.map(\.value))
  }
}
