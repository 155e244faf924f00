import SteadSyncProtocol

/// A transaction that the server has refused: it is not in the store any more, and is kept until it is sent again or
/// given up.
public struct QuarantinedChange: Hashable, Sendable {
  /// The zone's name.
  public let zone: String
  /// Why, in words.
  public let reason: String
  /// The identities of the objects that it would have changed.
  public let records: [String]
  /// Tells it apart.
  let item: ClientState.Quarantined

  init(_ zone: ZoneID, _ item: ClientState.Quarantined) {
    self.zone = zone.text
    self.item = item
    reason = Self.words(item.reason)
    records = item.transaction.ids.map(\.text).sorted()
  }

  private static func words(_ reason: Refusal.Reason) -> String {
    switch reason {
    case .denied: "An object that stays refers to one that was deleted, and its model denies that."
    case .follows: "It changes an object that an earlier refused change has made or changed."
    case .quota(let limit, let needed):
      "The zone would have \(needed) bytes, and may have \(limit). Delete something, or raise the server's quota."
    case .recordSize(_, let limit, let needed):
      "An object would have \(needed) bytes, and may have \(limit). Put large values into external storage."
    case .tooLarge: "It is more than a server takes at once. Save fewer objects at a time."
    case .type: "An object with this identity is of another model."
    default: "The server says: \(reason)."
    }
  }
}
