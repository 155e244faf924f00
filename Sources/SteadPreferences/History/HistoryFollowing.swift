import Foundation
import Observation
import SteadFiles
import Synchronization

private enum HistoryQueue {
  /// Delivers changes of other processes, and of other histories in this one.
  static let calls = SerialCalls()
}

/// Notifies a history of other writers' changes, and Observation of its reads.
final class HistoryFollowing<Payload: Codable & Identifiable & Sendable>: Sendable {
  typealias History = PayloadHistory<Payload>

  let registrar = ObservationRegistrar()
  // Making a key path of a generic type takes longer than a read.
  let items: KeyPath<History, [Payload]> & Sendable = \History.items
  let probe: KeyPath<History, Void> & Sendable = \History.[TrackingProbe()]
  private let token = ForkSafeLock<UInt64?>(nil)
  private let hasBegun = Atomic<Bool>(false)

  /// Watches the domain from the first call on.
  func begin(_ history: History) {
    // First, so that no change from here on is missed, whoever adds the handler.
    history.cores.current.withLock { $0.isFollowed = true }
    guard !hasBegun.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let token = history.store.addHandler { [weak history] _ in
      // Not here: the writing thread may hold the history's lock.
      HistoryQueue.calls.call { [weak history] in history?.catchUp() }
    }
    self.token.withLock { $0 = token }
    history.catchUp()
  }

  func end(_ store: DomainStore) {
    if let token = token.withLock({ $0 }) { store.removeHandler(token) }
  }
}
