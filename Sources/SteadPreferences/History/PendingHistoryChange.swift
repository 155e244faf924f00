typealias HistoryReceiver = ChangeBuffer<PendingHistoryChange>

/// What a consumer has not yet taken, as one change.
///
/// A consumer that is slow gets the sum: what came and went in between is in it no more.
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
