/// What has become of a history since its consumer last heard of it.
///
/// An entry that came and went in between is in none of the lists.
public struct PayloadHistoryChange<Payload: Sendable>: Sendable {
  /// Payloads that are new, the newest first.
  public let inserted: [Payload]
  /// Payloads as they are now that were others before, the newest first.
  public let updated: [Payload]
  /// Payloads that are gone, removed or dropped for the limit, as they last were; the newest first.
  public let removed: [Payload]
  /// Whether this process made all of these changes.
  public let isOwn: Bool

  /// A change.
  public init(inserted: [Payload], updated: [Payload], removed: [Payload], isOwn: Bool) {
    self.inserted = inserted
    self.updated = updated
    self.removed = removed
    self.isOwn = isOwn
  }
}

/// What became of payloads, by the entries that they are in.
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

  /// Takes in what happened after this.
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
