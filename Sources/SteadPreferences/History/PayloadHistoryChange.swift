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
