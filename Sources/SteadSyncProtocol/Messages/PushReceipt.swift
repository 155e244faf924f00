/// The result of a push's transactions.
package struct PushReceipt: Hashable, Sendable {
  /// The client's last transaction that was accepted or refused, of this push or an earlier one.
  package var last: Int64
  /// The zone's last number.
  package var head: Int64
  /// The server's time in milliseconds since 1970.
  package var now: Int64
  /// The client's refused transactions that it may not know.
  package var refused: [Refusal]

  package init(last: Int64, head: Int64, now: Int64, refused: [Refusal]) {
    self.last = last
    self.head = head
    self.now = now
    self.refused = refused
  }
}

extension PushReceipt {
  /// Whether a transaction was refused because the zone is full.
  package var exceedsQuota: Bool {
    refused.contains {
      switch $0.reason {
      case .quota, .recordCount: true
      default: false
      }
    }
  }
}
