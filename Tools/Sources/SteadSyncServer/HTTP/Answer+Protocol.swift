import HTTPTypes
import Hummingbird
import SteadSyncProtocol

extension Answer {
  /// An answer in the protocol's encoding. An answer that isn't a success also has the members of an error.
  static func answer(
    _ bytes: @autoclosure () -> [UInt8], _ value: @autoclosure () -> SyncValue, status code: Int,
    _ error: ServerError?, to request: Request
  ) -> Response {
    guard let error else { return self.bytes(bytes(), type: "application/json", to: request) }
    var members = value().object ?? [:]
    members["error"] = .string(error.code.description)
    members["message"] = .string(error.message)
    members["remedy"] = .string(error.remedy)
    if !error.figures.isEmpty {
      members["figures"] = .object(error.figures.mapValues(SyncValue.int))
    }
    return self.bytes(
      SyncValue.object(members).encoded(), type: "application/json",
      status: HTTPResponse.Status(code: code))
  }
}

extension PushAnswer {
  /// The error; nil for an accepted push.
  func failure(of push: Push) -> ServerError? {
    switch self {
    case .taken(let receipt): status == 200 ? nil : .refused(receipt)
    case .expired: ServerError.expired
    case .rollback: ServerError.rollback(hasMark: false)
    case .gap:
      ServerError(
        .gap, "The push doesn't follow the client's last transaction.",
        remedy: "Number the pending transactions again, as a new client.")
    case .schemaWanted:
      ServerError(
        .schemaWanted, "The zone's schema is older than the client's.",
        remedy: "Send the push again with its schema.")
    case .schemaTooOld(let minimum):
      ServerError(
        .schema, "The client's schema is older than the zone accepts for writing.",
        remedy: "Update the app; reading still works.",
        figures: ["minimum": Int64(minimum), "sent": Int64(push.schemaVersion)])
    case .schemaConflict:
      ServerError(
        .schemaConflict, "The client's schema contradicts the zone's.",
        remedy: "Only add to a schema: names and rules stay, and its version grows.")
    case .blobsMissing:
      ServerError(
        .missingBlobs, "The push names blobs that the zone doesn't have.",
        remedy: "Upload them, then send the push again.")
    case .tooLarge:
      ServerError(
        .tooLarge, "The push is too large.", remedy: "Send fewer transactions at once.",
        figures: [
          "mutations": Int64(push.transactions.map(\.mutations.count).reduce(0, +)),
          "mutation_limit": Int64(SyncLimits().pushMutations),
          "byte_limit": Int64(SyncLimits().pushBytes),
        ])
    }
  }
}

extension ChangesAnswer {
  /// The error; nil for a page.
  var failure: ServerError? {
    switch self {
    case .page: nil
    case .expired: ServerError.expired
    case .rollback(let common): ServerError.rollback(hasMark: common != nil)
    }
  }
}

extension ServerError {
  fileprivate static let expired = ServerError(
    .expired, "The client's state is older than the deletions that the zone keeps.",
    remedy: "Fetch the zone again from the start; keep what is pending.")

  /// A transaction was refused for a quota; the others were taken.
  fileprivate static func refused(_ receipt: PushReceipt) -> ServerError {
    var figures: [String: Int64] = [:]
    for refusal in receipt.refused {
      switch refusal.reason {
      case .quota(let limit, let needed), .recordCount(let limit, let needed):
        figures = ["limit": Int64(limit), "needed": Int64(needed)]
      default: break
      }
    }
    return ServerError(
      .quota, "A transaction was refused, since its zone or the zone's owner has no room left.",
      remedy: "Delete records, keys or blobs. The server's --quota limits an owner's zones.",
      figures: figures)
  }

  fileprivate static func rollback(hasMark: Bool) -> ServerError {
    ServerError(
      .rollback, "The server has lost changes that the client has seen.",
      remedy: hasMark
        ? "Fetch the zone again, and send what is newer than the common mark."
        : "Ask for changes with the marks that the client keeps.")
  }
}
