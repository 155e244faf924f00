import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SteadSyncProtocol

/// Makes responses.
enum Answer {
  private struct Failure: Encodable {
    var error: String
    var message: String
    var remedy: String
    var figures: [String: Int64]?
    var names: [String: [String]]?
  }

  static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return bytes(try encoder.encode(value), type: "application/json", status: status)
  }

  static func bytes(
    _ bytes: some Sequence<UInt8>, type: String, status: HTTPResponse.Status = .ok
  ) -> Response {
    Response(
      status: status, headers: [.contentType: type, .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }

  /// A response that is compressed if the request allows it.
  static func bytes(_ bytes: [UInt8], type: String, to request: Request) -> Response {
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

  static func nothing() -> Response { Response(status: .noContent) }

  static func failure(_ error: ServerError) -> Response {
    let body = Failure(
      error: error.code.description, message: error.message, remedy: error.remedy,
      figures: error.figures.isEmpty ? nil : error.figures,
      names: error.names.isEmpty ? nil : error.names)
    // Strings and numbers always encode.
    var response =
      (try? json(body, status: status(of: error.code))) ?? Response(status: .internalServerError)
    if let seconds = error.retryAfter { response.headers[.retryAfter] = String(seconds) }
    if error.code == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
    return response
  }

  /// The error of an answer, whatever was thrown. The messages of foreign errors are left out: they might quote a
  /// value.
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
