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
