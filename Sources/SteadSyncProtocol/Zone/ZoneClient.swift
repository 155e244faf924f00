/// A zone's state for one client.
package struct ZoneClient: Hashable, Sendable {
  /// The last transaction that was accepted or refused.
  package var last: Int64
  /// The digest of all transactions up to that one, in order of arrival.
  package var digest: TransactionDigest
  /// Refused transactions that later ones may build on, and that the client may not know.
  package var refusals: [Refusal]

  package init(
    last: Int64 = 0, digest: TransactionDigest = TransactionDigest(), refusals: [Refusal] = []
  ) {
    self.digest = digest
    self.last = last
    self.refusals = refusals
  }

  /// The maximum number of refusals that are kept; beyond it the oldest are dropped, and transactions that build on
  /// those are applied.
  static let refusalLimit = 1000

  mutating func refuse(_ transaction: Transaction, _ reason: Refusal.Reason) {
    refusals.append(Refusal(number: transaction.number, reason: reason, ids: transaction.ids))
    if refusals.count > Self.refusalLimit { refusals.removeFirst() }
  }
}

extension ZoneClient: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "client")
    self.init(
      last: try reader.count("last"), digest: try reader.coded("digest"),
      refusals: try reader.codedIfPresent("refusals") ?? [])
  }

  package var syncValue: SyncValue {
    .members([
      "last": .int(last), "digest": digest.syncValue,
      "refusals": refusals.isEmpty ? nil : refusals.syncValue,
    ])
  }
}
