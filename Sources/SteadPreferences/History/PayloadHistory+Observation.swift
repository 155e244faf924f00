import Foundation
import Observation
import SteadFiles
import Synchronization

extension PayloadHistory: Observable {
  /// Never read; only its key path matters.
  subscript(probe: TrackingProbe) -> Void { () }

  /// Reports to Observation that the history is read; called once in each read, before it.
  func track() {
    let before = TrackingProbe.count.load(ordering: .relaxed)
    following.registrar.access(self, keyPath: following.probe)
    guard TrackingProbe.count.load(ordering: .relaxed) != before else { return }
    following.registrar.access(self, keyPath: following.items)
    following.begin(self)
  }

  /// Notifies observers of waiting changes. Never called with a lock held.
  ///
  /// One thread at a time does this, so that all receive changes in order; changes made by a handler are
  /// delivered by the thread that called it, after it has returned.
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
