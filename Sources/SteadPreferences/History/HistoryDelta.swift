/// The changes of payloads, by their entries.
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

  /// Adds later changes.
  mutating func add(_ next: HistoryDelta) {
    isOwn = isOwn && next.isOwn
    for (sequence, step) in next.steps {
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
    let sorted = steps.sorted { $0.key > $1.key }.map(\.value)
    return PayloadHistoryChange(
      inserted: sorted.compactMap { $0.before == nil ? $0.after : nil }.map(payload),
      updated: sorted.compactMap { $0.before == nil ? nil : $0.after }.map(payload),
      removed: sorted.compactMap { $0.after == nil ? $0.before : nil }.map(payload), isOwn: isOwn)
  }
}
