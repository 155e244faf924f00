/// The result of a push's transactions.
public struct PushReceipt: Hashable, Sendable {
  /// The client's last transaction that was accepted or refused, of this push or an earlier one.
  public var last: Int64
  /// The zone's last number.
  public var head: Int64
  /// The server's time in milliseconds since 1970.
  public var now: Int64
  /// The client's refused transactions that it may not know.
  public var refused: [Refusal]

  public init(last: Int64, head: Int64, now: Int64, refused: [Refusal]) {
    self.last = last
    self.head = head
    self.now = now
    self.refused = refused
  }
}

extension PushReceipt {
  /// Whether a transaction was refused because the zone is full.
  public var exceedsQuota: Bool {
    refused.contains {
      switch $0.reason {
      case .quota, .recordCount: true
      default: false
      }
    }
  }
}
