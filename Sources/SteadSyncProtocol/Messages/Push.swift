/// Transactions that a client sends, with what the server must know to decide whether both still have one history.
///
/// ```
/// {"anchor":"17.00000000000000ab","client":"c1","device":"d1","schemaDigest":"00000000000000ab","schemaVersion":1,
///  "transactions":[{"basis":0,"mutations":[…],"number":1}],"v":1}
/// ```
///
/// `schemaDigest`, `schema` and `absentBlobs` are optional.
///
/// "Push" in Documentation/SyncProtocol.md.
package struct Push: Hashable, Sendable {
  /// Under which the transactions are numbered.
  package var client: ClientID
  /// Whose stamps the mutations have, except in restores.
  package var device: DeviceID
  /// The mark of what the client has shown. A server that doesn't have it was taken back to before.
  package var anchor: Mark
  /// The version of the client's schema.
  package var schemaVersion: Int
  /// The digest of the client's schema, until the server has accepted a push with it.
  package var schemaDigest: UInt64?
  /// The client's schema, if the server asked for it.
  package var schema: Schema?
  /// The transactions in the order of their numbers, without gaps.
  package var transactions: [Transaction]
  /// Blobs that the transactions name and that the client no longer has; the server accepts the records without them.
  package var absentBlobs: Set<BlobID>

  package init(
    client: ClientID, device: DeviceID, anchor: Mark, schemaVersion: Int,
    schemaDigest: UInt64? = nil, schema: Schema? = nil, transactions: [Transaction],
    absentBlobs: Set<BlobID> = []
  ) {
    self.absentBlobs = absentBlobs
    self.client = client
    self.device = device
    self.anchor = anchor
    self.schemaVersion = schemaVersion
    self.schemaDigest = schemaDigest
    self.schema = schema
    self.transactions = transactions
  }
}

extension Push: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "push")
    self.init(
      client: try reader.identifier("client"), device: try reader.identifier("device"),
      anchor: try reader.coded("anchor"), schemaVersion: Int(try reader.count("schemaVersion")),
      schemaDigest: try reader.digestIfPresent("schemaDigest"),
      schema: try reader.codedIfPresent("schema"), transactions: try reader.coded("transactions"),
      absentBlobs: Set(try reader.identifiers("absentBlobs")))
  }

  package var syncValue: SyncValue {
    .message([
      "client": .identifier(client), "device": .identifier(device), "anchor": anchor.syncValue,
      "schemaVersion": .int(Int64(schemaVersion)),
      "schemaDigest": (schemaDigest?.digits).map { .string($0) }, "schema": schema?.syncValue,
      "transactions": transactions.syncValue, "absentBlobs": .identifiers(absentBlobs.sorted()),
    ])
  }
}

// MARK: - The answer

/// A server's answer to a push.
///
/// ```
/// {"answer":"taken","head":18,"last":1,"now":1700000000123,"v":1}
/// {"answer":"blobsMissing","blobs":["…"],"v":1}
/// {"answer":"gap","v":1}
/// ```
///
/// The table in "Push" in Documentation/SyncProtocol.md has them in the order in which a server checks, and what a
/// client does about each.
package enum PushAnswer: Hashable, Sendable {
  /// Each transaction was taken or refused.
  case taken(PushReceipt)
  /// The client's history has been purged: it must fetch from the start first.
  case expired
  /// The server has forgotten something that the client has seen.
  case rollback
  /// The server has forgotten transactions of this client: number the pending ones again, as a new client.
  case gap
  /// The zone's schema is older than the client's, or has other rules in the same version: send it along.
  case schemaWanted
  /// The client's schema is older than the zone allows to write.
  case schemaTooOld(minimum: Int)
  /// The client's schema contradicts the zone's.
  case schemaConflict
  /// Blobs must be uploaded first.
  case blobsMissing([BlobID])
  /// The push exceeds the limit of transactions, records or bytes.
  case tooLarge
}

extension PushAnswer: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "answer")
    switch try reader.string("answer") {
    case "taken":
      self = .taken(
        PushReceipt(
          last: try reader.count("last"), head: try reader.count("head"),
          now: try reader.int("now"), refused: try reader.codedIfPresent("refused") ?? []))
    case "expired": self = .expired
    case "rollback": self = .rollback
    case "gap": self = .gap
    case "schemaWanted": self = .schemaWanted
    case "schemaTooOld": self = .schemaTooOld(minimum: Int(try reader.count("minimum")))
    case "schemaConflict": self = .schemaConflict
    case "blobsMissing": self = .blobsMissing(try reader.identifiers("blobs"))
    case "tooLarge": self = .tooLarge
    default: throw reader.problem("answer", "an answer that is known")
    }
  }

  package var syncValue: SyncValue {
    switch self {
    case .taken(let receipt):
      .message([
        "answer": "taken", "last": .int(receipt.last), "head": .int(receipt.head),
        "now": .int(receipt.now),
        "refused": receipt.refused.isEmpty ? nil : receipt.refused.syncValue,
      ])
    case .expired: .message(["answer": "expired"])
    case .rollback: .message(["answer": "rollback"])
    case .gap: .message(["answer": "gap"])
    case .schemaWanted: .message(["answer": "schemaWanted"])
    case .schemaTooOld(let minimum):
      .message(["answer": "schemaTooOld", "minimum": .int(Int64(minimum))])
    case .schemaConflict: .message(["answer": "schemaConflict"])
    case .blobsMissing(let blobs):
      .message(["answer": "blobsMissing", "blobs": .identifiers(blobs)])
    case .tooLarge: .message(["answer": "tooLarge"])
    }
  }

  /// The status of the answer in HTTP, for proxies and logs. Clients read the answer's name.
  package var status: Int {
    switch self {
    case .taken(let receipt): receipt.exceedsQuota ? 507 : 200
    case .expired, .rollback: 410
    case .gap, .schemaWanted, .schemaConflict, .blobsMissing: 409
    case .schemaTooOld: 412
    case .tooLarge: 413
    }
  }
}

/// The answer to a push whose transactions were each accepted or refused.
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
