typealias HistoryReceiver = ChangeBuffer<PendingHistoryChange>

/// The changes that a consumer has not yet taken, combined.
///
/// A slow consumer gets the sum: an entry that was added and removed in between is not in it.
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
