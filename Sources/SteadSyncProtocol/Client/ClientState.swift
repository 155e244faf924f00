/// A client's saved state of a zone besides its records. Saved in the transaction that changes the records.
///
/// The outbox may be long, so keep it as rows. A commit or a retry appends one transaction. A page removes those up to
/// ``acknowledged``, which go to the quarantine or are part of the base. If ``client`` changes, all rows change. A
/// transaction in the outbox never changes otherwise. The same is true of the quarantine, whose rows are appended, or
/// removed one by one. All other members are small.
package struct ClientState: Hashable, Sendable {
  /// The purpose of reading pages.
  package enum Phase: String, Hashable, Sendable {
    /// A first fetch, which shows page by page.
    case first
    /// Following the zone: shows at its head.
    case following
    /// A fetch that replaces the base at the head, after a purge or a restored backup.
    case replacing
  }

  /// A transaction that the server has refused.
  package struct Quarantined: Hashable, Sendable {
    /// The client that sent it.
    package var client: ClientID
    package var transaction: Transaction
    package var reason: Refusal.Reason
    /// The device's own counter entries before the transaction, by record and field; null for none.
    package var counters: [RecordID: [String: SyncValue]]

    package init(
      client: ClientID, transaction: Transaction, reason: Refusal.Reason,
      counters: [RecordID: [String: SyncValue]] = [:]
    ) {
      self.counters = counters
      self.client = client
      self.transaction = transaction
      self.reason = reason
    }
  }

  package var client: ClientID
  package var device: DeviceID
  package var phase = Phase.first
  /// How far pages have been read.
  package var cursor: Cursor?
  /// How often a fetch was restarted.
  package var round: Int64 = 0
  /// The mark of what is shown; nil until the server knows one, and until then nothing is pushed.
  package var anchor: Mark?
  /// Marks of what was shown, newest first, at most ``markLimit``.
  package var marks: [Mark] = []
  /// The last transaction that a page has included or refused.
  package var acknowledged: Int64 = 0
  /// The digest of the transactions up to that one.
  package var digest = TransactionDigest()
  /// The version of the schema with which the zone was last opened; 0 for none.
  package var schemaVersion = 0
  /// Its digest: during development, a schema may change without its version. Nil makes all records be indexed again.
  package var schemaDigest: UInt64?
  /// The last number given to a transaction.
  package var numbered: Int64 = 0
  /// Transactions that are not yet part of the base, in order.
  package var outbox: [Transaction] = []
  package var quarantine: [Quarantined] = []
  package var clock = HybridClock()

  /// The maximum number of marks.
  package static let markLimit = 40

  package init(client: ClientID, device: DeviceID) {
    self.client = client
    self.device = device
  }
}

extension ClientState {
  /// Adds a mark. Beyond the limit, the mark with the nearest neighbours, as seen from now, is dropped, so that old
  /// times have fewer.
  mutating func add(_ mark: Mark) {
    guard marks.first != mark else { return }
    marks.insert(mark, at: 0)
    guard marks.count > Self.markLimit else { return }
    let newest = Double(mark.head)
    let nearest = (1..<(marks.count - 1)).min { closeness($0, newest) < closeness($1, newest) }
    if let nearest { marks.remove(at: nearest) }
  }

  private func closeness(_ index: Int, _ newest: Double) -> Double {
    let (after, before) = (Double(marks[index - 1].head), Double(marks[index + 1].head))
    return (after - before) / max(newest - before, 1)
  }
}
