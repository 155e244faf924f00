#if Server
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SteadSQLite
import SteadSyncProtocol

/// Makes responses. Those with a body have `Cache-Control: no-store`, since they are for one device at one moment.
enum Answer {
  /// The JSON of an error.
  private struct Failure: Encodable {
    var error: String
    var message: String
    var remedy: String
    var figures: [String: Int64]?
    var names: [String: [String]]?
  }

  /// A response with JSON, whose members are in the order of their names.
  static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return bytes(try encoder.encode(value), type: "application/json", status: status)
  }

  /// A response with a body, which no cache may keep.
  static func bytes(
    _ bytes: some Sequence<UInt8>, type: String, status: HTTPResponse.Status = .ok
  ) -> Response {
    Response(
      status: status, headers: [.contentType: type, .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }

  /// A response that is compressed if the request allows it.
  static func bytes(_ bytes: [UInt8], type: String, to request: Request) -> Response {
    // An encoding with a quality value isn't recognized: its client gets plain bytes, which all can
    // read.
    let encodings = (request.headers[.acceptEncoding] ?? "").split(whereSeparator: {
      $0 == "," || $0 == " "
    })
    guard bytes.count >= Gzip.minimumSize, encodings.contains("gzip"),
      let compressed = Gzip.compressed(bytes)
    else { return self.bytes(bytes, type: type) }
    var response = self.bytes(compressed, type: type)
    response.headers[.contentEncoding] = "gzip"
    return response
  }

  /// A response without a body, to a change that returns nothing.
  static func nothing() -> Response { Response(status: .noContent) }

  /// The response to an error: `{"error","message","remedy"}`, with `figures` and `names` unless they are empty.
  static func failure(_ error: ServerError) -> Response {
    let body = Failure(
      error: error.code.description, message: error.message, remedy: error.remedy,
      figures: error.figures.isEmpty ? nil : error.figures,
      names: error.names.isEmpty ? nil : error.names)
    // Strings and numbers always encode.
    var response =
      (try? json(body, status: status(of: error.code))) ?? Response(status: .internalServerError)
    if let seconds = error.retryAfter { response.headers[.retryAfter] = String(seconds) }
    // A 401 has to name the scheme that would be accepted (RFC 9110, section 15.5.2).
    if error.code == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
    return response
  }

  /// The error of an answer, whatever was thrown. The messages of foreign errors are left out: they might quote a
  /// value. The log has the cause of an ``EngineError``.
  static func error(for error: any Error) -> ServerError {
    switch error {
    case let error as ServerError: error
    case let error as EngineError: self.error(for: error)
    case let error as HTTPError: self.error(for: error.status)
    case is NIOTooManyBytesError: self.error(for: .contentTooLarge)
    case let error as SyncCodingError:
      ServerError(
        .malformed, error.message,
        remedy: "Send JSON as Documentation/SyncProtocol.md describes it.")
    case is DecodingError:
      ServerError(
        .malformed, "The request's body isn't what this address accepts.",
        remedy: "Send JSON as Documentation/SyncServer.md describes it.")
    default:
      ServerError(
        .failed, "The server failed.", remedy: "Look for the request in the server's log.")
    }
  }

  /// The error for a failure of the database, with a pause if the failure passes.
  private static func error(for error: EngineError) -> ServerError {
    switch error.code {
    case .other:
      ServerError(
        .failed, "The database failed.", remedy: "Look for the request in the server's log.")
    case .storage:
      ServerError(
        .unavailable, "The database's disk is full or failed.",
        remedy: "Make room on the server's disk; what is pending is sent again.",
        retryAfter: ServerError.secondsForRepair)
    case .closed:
      ServerError(
        .unavailable, "The server is shutting down.",
        remedy: "Send the request again when it runs.",
        retryAfter: ServerError.secondsForStart)
    case .retry, .disconnected, .overloaded:
      ServerError(
        .unavailable, "The database can't take the request now.", remedy: "Send it again.",
        retryAfter: 1)
    }
  }

  /// The error for a request that Hummingbird has refused.
  private static func error(for status: HTTPResponse.Status) -> ServerError {
    switch status {
    case .notFound:
      ServerError(
        .notFound, "The address doesn't exist.", remedy: "Compare it with SyncServer.md.")
    case .contentTooLarge:
      ServerError(.tooLarge, "The request is too large.", remedy: "Send less at once.")
    default:
      ServerError(
        .malformed, "This address doesn't accept such a request.",
        remedy: "Compare it with SyncServer.md.")
    }
  }

  /// The status of an error, as in the table of SyncServer.md.
  private static func status(of code: ServerError.Code) -> HTTPResponse.Status {
    switch code {
    case .malformed: .badRequest
    case .unauthorized: .unauthorized
    case .forbidden: .forbidden
    case .notFound: .notFound
    case .conflict, .gap, .missingBlobs, .schemaWanted, .schemaConflict: .conflict
    case .expired, .rollback: .gone
    case .schema: .preconditionFailed
    case .tooLarge: .contentTooLarge
    case .tooMany: .tooManyRequests
    case .quota: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
    case .unavailable: .serviceUnavailable
    default: .internalServerError
    }
  }
}

extension Answer {
  /// An answer in the protocol's encoding, compressed if the request allows it. An answer that isn't a success also
  /// has the members of an error, for people: clients decide by `answer` ("Push" in SyncProtocol.md).
  ///
  /// The bytes and the value are autoclosures because an answer needs only one of them.
  static func answer(
    _ bytes: @autoclosure () -> [UInt8], _ value: @autoclosure () -> SyncValue, status code: Int,
    _ error: ServerError?, to request: Request
  ) -> Response {
    // A success is sent as it is encoded, without a value in between.
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

  /// The answer to a request for changes. A page is sent as it is.
  static func changes(_ answer: EncodedAnswer, to request: Request) -> Response {
    switch answer {
    case .page(let bytes): self.bytes(bytes, type: "application/json", to: request)
    case .other(let answer):
      self.answer(
        answer.encoded(), answer.syncValue, status: answer.status, answer.failure, to: request)
    }
  }
}

extension PushAnswer {
  /// The error; nil for an accepted push. A push of which a quota refused a transaction has one, although the rest is
  /// stored.
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
  /// The error for a client that has to fetch from the start.
  fileprivate static let expired = ServerError(
    .expired, "The client's state is older than the deletions that the zone keeps.",
    remedy: "Fetch the zone again from the start; keep what is pending.")

  /// A transaction was refused for a quota; the others were taken.
  fileprivate static func refused(_ receipt: PushReceipt) -> ServerError {
    // Of several refusals the last one's figures; the answer itself has those of all.
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

  /// The error for a client that has seen more than the server has. The remedy depends on whether
  /// the answer names the newest common mark.
  fileprivate static func rollback(hasMark: Bool) -> ServerError {
    ServerError(
      .rollback, "The server has lost changes that the client has seen.",
      remedy: hasMark
        ? "Fetch the zone again, and send what is newer than the common mark."
        : "Ask for changes with the marks that the client keeps.")
  }
}
#endif
