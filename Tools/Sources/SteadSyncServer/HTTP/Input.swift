import Foundation
import Hummingbird
import NIOCore

/// Reads the parts of a request.
enum Input {
  /// The maximum size of a JSON body, except a push's, in bytes.
  static let maximumBody = 64 << 10

  static func json<Value: Decodable>(_ type: Value.Type, _ request: Request) async throws -> Value {
    try JSONDecoder().decode(type, from: try await body(request, upTo: maximumBody))
  }

  /// The zone of the address: 32 hexadecimal digits in lower case.
  static func zone(_ context: ServerContext) throws -> String {
    let zone = context.parameters.get("zone") ?? ""
    try check(zone: zone)
    return zone
  }

  static func check(zone: String) throws {
    guard isHexadecimal(zone, count: 32) else {
      throw ServerError(
        .malformed, "The zone isn't an identifier.",
        remedy: "Use 32 hexadecimal digits in lower case.")
    }
  }

  static func isHexadecimal(_ text: String, count: Int) -> Bool {
    text.utf8.count == count
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
      }
  }

  static func account(_ text: String) throws -> AccountName {
    guard let name = AccountName(text) else {
      throw ServerError(
        .malformed, "The user's name isn't valid.",
        remedy: "Use 1 to 64 lower-case letters, digits, and . _ - @.")
    }
    return name
  }
}

extension Input {
  /// A request's body. Throws ``ServerError`` with the limit if it is larger.
  static func body(_ request: Request, upTo limit: Int) async throws -> Data {
    let body: [UInt8]
    do {
      body = Array(try await request.body.collect(upTo: limit).readableBytesView)
    } catch is NIOTooManyBytesError {
      throw ServerError(
        .tooLarge, "The request is too large.", remedy: "Send less at once.",
        figures: ["limit": Int64(limit)])
    }
    switch request.headers[.contentEncoding] {
    case nil: return Data(body)
    case "gzip": return Data(try Gzip.expanded(body, upTo: limit))
    default:
      throw ServerError(
        .malformed, "The request's body is compressed in an unknown way.",
        remedy: "Send gzip, or no Content-Encoding.")
    }
  }
}
