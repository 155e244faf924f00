/// A client's saved state of a zone besides its records. Saved in the transaction that changes the records.
///
/// The outbox may be long, so keep it as rows. A commit or a retry appends one transaction. A page removes those up to
/// ``acknowledged``, which go to the quarantine or are part of the base. If ``client`` changes, all rows change. A
/// transaction in the outbox never changes otherwise. The same is true of the quarantine, whose rows are appended, or
/// removed one by one. All other members are small.
public struct ClientState: Hashable, Sendable {
  /// The purpose of reading pages.
  public enum Phase: String, Hashable, Sendable {
    /// A first fetch, which shows page by page.
    case first
    /// Following the zone: shows at its head.
    case following
    /// A fetch that replaces the base at the head, after a purge or a restored backup.
    case replacing
  }

  /// A transaction that the server has refused.
  public struct Quarantined: Hashable, Sendable {
    /// The client that sent it.
    public var client: ClientID
    public var transaction: Transaction
    public var reason: Refusal.Reason
    /// The device's own counter entries before the transaction, by record and field; null for none.
    public var counters: [RecordID: [String: SyncValue]]

    public init(
      client: ClientID, transaction: Transaction, reason: Refusal.Reason,
      counters: [RecordID: [String: SyncValue]] = [:]
    ) {
      self.counters = counters
      self.client = client
      self.transaction = transaction
      self.reason = reason
    }
  }

  public var client: ClientID
  public var device: DeviceID
  public var phase = Phase.first
  /// How far pages have been read.
  public var cursor: Cursor?
  /// How often a fetch was restarted.
  public var round: Int64 = 0
  /// The mark of what is shown; nil until the server knows one, and until then nothing is pushed.
  public var anchor: Mark?
  /// Marks of what was shown, newest first, at most ``markLimit``.
  public var marks: [Mark] = []
  /// The last transaction that a page has included or refused.
  public var acknowledged: Int64 = 0
  /// The digest of the transactions up to that one.
  public var digest = TransactionDigest()
  /// The version of the schema with which the zone was last opened; 0 for none.
  public var schemaVersion = 0
  /// Its digest: during development, a schema may change without its version. Nil makes all records be indexed again.
  public var schemaDigest: UInt64?
  /// The last number given to a transaction.
  public var numbered: Int64 = 0
  /// Transactions that are not yet part of the base, in order.
  public var outbox: [Transaction] = []
  public var quarantine: [Quarantined] = []
  public var clock = HybridClock()

  /// The maximum number of marks.
  public static let markLimit = 40

  public init(client: ClientID, device: DeviceID) {
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
