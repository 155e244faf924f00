/// A server's answer to a push.
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

  /// The status of the answer in HTTP.
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
