#if Server
import CServerZlib
import Foundation
import Hummingbird
import NIOCore

/// Reads and checks the parts of a request. What isn't valid is answered with 400 `malformed`.
enum Input {
  /// The maximum size of a JSON body, except a push's, in bytes.
  static let maximumBody = 64 << 10
  /// The maximum size of a push's body, in bytes. It is larger than the limit of the values (`SyncLimits`), because of
  /// escapes, names and a schema.
  static let maximumPushBody = 8 << 20

  /// A JSON body of at most ``maximumBody`` bytes. Throws ``ServerError`` if it is larger, and `DecodingError` if it
  /// isn't what the route takes.
  static func json<Value: Decodable>(_ type: Value.Type, _ request: Request) async throws -> Value {
    try JSONDecoder().decode(type, from: try await body(request, upTo: maximumBody))
  }

  /// The zone of the address: 32 hexadecimal digits in lower case.
  static func zone(_ context: ServerContext) throws -> String {
    let zone = context.parameters.get("zone") ?? ""
    try check(zone: zone)
    return zone
  }

  /// Throws ``ServerError`` unless the string is a zone's name.
  static func check(zone: String) throws {
    guard isHexadecimal(zone, count: 32) else {
      throw ServerError(
        .malformed, "The zone isn't an identifier.",
        remedy: "Use 32 hexadecimal digits in lower case.")
    }
  }

  /// Whether a string is this many hexadecimal digits in lower case.
  static func isHexadecimal(_ text: String, count: Int) -> Bool {
    text.utf8.count == count
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
      }
  }

  /// A user's name from an address or a body. Throws ``ServerError`` for another string.
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
  /// A request's body, expanded if it is gzip. The limit holds before and after that.
  ///
  /// - Throws: ``ServerError``: `tooLarge` with the limit, and `malformed` for another encoding or damaged gzip.
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
    // The limit again, now of the expanded body.
    case "gzip": return Data(try Gzip.expanded(body, upTo: limit))
    default:
      throw ServerError(
        .malformed, "The request's body is compressed in an unknown way.",
        remedy: "Send gzip, or no Content-Encoding.")
    }
  }
}

/// Compression of bodies.
enum Gzip {
  /// The size below which a body isn't compressed, in bytes.
  static let minimumSize = 1_024
  /// Plus 16 chooses the gzip format's header and trailer instead of zlib's own (`deflateInit2` in zlib.h).
  private static let windowBits = MAX_WBITS + 16

  /// Nil if zlib can't allocate memory.
  static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    // The fastest level: it makes JSON only a few per cent larger than the slowest one.
    guard
      deflateInit2_(
        &stream, 1, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
    else { return nil }
    defer { deflateEnd(&stream) }
    // zlib's upper bound, so that one call has room for everything.
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
    let count = run(bytes, &output, &stream) { deflate($0, Z_FINISH) == Z_STREAM_END }
    return count.map { Array(output[..<$0]) }
  }

  /// Expands gzip. Never allocates more than the limit, however much the bytes would expand to: a few kilobytes of
  /// gzip can hold a gigabyte.
  ///
  /// - Throws: ``ServerError``: `malformed` if the bytes aren't gzip, and `tooLarge` if they hold more than the
  ///   limit.
  static func expanded(_ bytes: [UInt8], upTo limit: Int) throws -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    // Memory is short, which passes: the answer asks for another attempt.
    guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
      throw EngineError.overloaded
    }
    defer { inflateEnd(&stream) }
    // One byte more than the limit, to notice a body that is too large.
    var output = [UInt8](repeating: 0, count: limit + 1)
    var status: Int32 = Z_OK
    let count = run(bytes, &output, &stream) { pointer in
      // All of the input is there, so one call has to reach the end.
      status = inflate(pointer, Z_FINISH)
      return status == Z_STREAM_END
    }
    if let count, count <= limit { return Array(output[..<count]) }
    // The output is full, or has the one byte beyond the limit.
    if stream.avail_out == 0 || count != nil {
      throw ServerError(
        .tooLarge, "The request is too large.", remedy: "Send less at once.",
        figures: ["limit": Int64(limit)])
    }
    throw ServerError(
      .malformed, "The request's body isn't compressed as its header says.",
      remedy: "Send gzip, or no Content-Encoding.")
  }

  /// Gives zlib all of the input and of the output in one call, and returns how much it wrote if the call succeeds.
  /// The pointers in the stream are valid only during the call.
  private static func run(
    _ input: [UInt8], _ output: inout [UInt8], _ stream: inout z_stream,
    _ call: (UnsafeMutablePointer<z_stream>) -> Bool
  ) -> Int? {
    input.withUnsafeBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        // zlib doesn't write there; its interface lacks the const.
        stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        // Traps from 4 GiB on, which no body and no page reaches.
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        return call(&stream) ? Int(stream.total_out) : nil
      }
    }
  }
}
#endif
