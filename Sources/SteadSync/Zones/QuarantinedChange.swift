internal import SteadSyncProtocol

/// A transaction that the server has refused. It is no longer in the store, and is kept until it is sent again or
/// discarded.
public struct QuarantinedChange: Hashable, Sendable {
  /// The zone's name.
  public let zone: String
  /// The reason, as a sentence.
  public let reason: String
  /// The identities of the objects that it would have changed.
  public let records: [String]
  /// Identifies the transaction.
  let item: ClientState.Quarantined

  init(_ zone: ZoneID, _ item: ClientState.Quarantined) {
    self.zone = zone.text
    self.item = item
    reason = Self.words(item.reason)
    records = item.transaction.ids.map(\.text).sorted()
  }

  private static func words(_ reason: Refusal.Reason) -> String {
    switch reason {
    case .denied:
      "An object still refers to one that was deleted, and its model's delete rule denies that."
    case .follows: "It changes an object that an earlier refused change inserted or changed."
    case .quota(let limit, let needed):
      "The zone would have \(needed) bytes, and may have \(limit). Delete objects, or raise the server's quota."
    case .recordSize(_, let limit, let needed):
      "An object would have \(needed) bytes, and may have \(limit). Put large values into external storage."
    case .tooLarge: "It is larger than a server accepts. Save fewer objects at a time."
    case .type: "An object of another model has this identity."
    default: "The server's reason is: \(reason)."
    }
  }
}
