import Foundation
import LocalServer
import SteadTestSupport
import Testing

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Compressed bodies that end too early, which libcurl decodes before this package sees them.
@Suite(.hangLimit) struct SessionCompressionTests {
  /// How a server ends a body of which it sends a part.
  enum Framing: CaseIterable {
    /// It states the whole's length, and closes the connection.
    case wholeLength
    /// It closes the connection within a chunk's sequence.
    case openChunks
    /// It states the part's length: to HTTP, the part is a whole body.
    case partLength
    /// It ends the chunks in order.
    case closedChunks

    /// Whether the framing of HTTP tells that bytes are missing.
    var tells: Bool { self == .wholeLength || self == .openChunks }
  }

  /// "hello " forty times, by gzip: 10 bytes of header, 18 of data, 8 of checksum and length.
  private static let packed = "H4sIAAAAAAACA8tIzcnJV8gYMSQAnlCUffAAAAA="
  private static let plain = Data(String(repeating: "hello ", count: 40).utf8)

  private let session = URLSession(configuration: .patient)
  private let cache = HTTPCache()

  init() { MemoryPressure.shared.ignoreSystem() }

  private func server(
    _ framing: Framing, _ coding: String, _ whole: Data, count: Int
  ) throws -> LocalServer {
    try LocalServer { _ in
      var fields = [("Cache-Control", "max-age=1000"), ("Content-Encoding", coding)]
      let part = whole.prefix(count)
      switch framing {
      case .wholeLength:
        fields.append(("Content-Length", "\(whole.count)"))
        return LocalServer.Reply(fields: fields, body: .data(part))
      case .partLength:
        fields.append(("Content-Length", "\(part.count)"))
        return LocalServer.Reply(fields: fields, body: .data(part))
      case .openChunks, .closedChunks:
        return LocalServer.Reply(
          fields: fields,
          body: .stream { writer in
            try writer.write(part)
            if framing == .openChunks { throw URLError(.networkConnectionLost) }
          })
      }
    }
  }

  private static func data(coding: String) throws -> Data {
    let packed = try #require(Data(base64Encoded: Self.packed))
    // The same data with the header and the checksum (Adler-32) of zlib.
    guard coding == "deflate" else { return packed }
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in plain {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    let sum = withUnsafeBytes(of: (high << 16 | low).bigEndian) { Data($0) }
    return Data([0x78, 0x9C]) + packed.dropFirst(10).dropLast(8) + sum
  }

  /// The part of the body that a request gets; nil for an error.
  private func load(_ server: LocalServer) async throws -> Data? {
    let request = try server.request()
    do {
      return try await session.data(for: request, cache: cache).0
    } catch let error as URLError {
      #expect(error.code != .timedOut)
      return nil
    }
  }

  // A body that ended within its compressed data was stored as a whole one. HTTP's framing tells that bytes are missing,
  // and that is noticed. Where the framing doesn't tell, only the decoder could, and libcurl's reports no error for data
  // that end too early: the part is taken for the whole, as Documentation/Caches.md says.
  @Test(arguments: Framing.allCases, ["gzip", "deflate"])
  func `a compressed body that is cut off is noticed by its framing`(
    framing: Framing, coding: String
  ) async throws {
    let whole = try Self.data(coding: coding)
    for count in 0..<whole.count {
      let server = try server(framing, coding, whole, count: count)
      let (first, second) = (try await load(server), try await load(server))
      if framing.tells {
        #expect(first == nil && second == nil, "\(count)")
        #expect(server.requestCount == 2, "\(count)")
      } else {
        let part = try #require(first)
        #expect(Self.plain.starts(with: part), "\(count)")
        #expect(second == part, "\(count)")
        #expect(server.requestCount == 1, "\(count)")
      }
    }
  }

  @Test(arguments: [Framing.partLength, .closedChunks], ["gzip", "deflate"])
  func `a whole compressed body is stored decoded`(framing: Framing, coding: String) async throws {
    let whole = try Self.data(coding: coding)
    let server = try server(framing, coding, whole, count: whole.count)
    for _ in 0..<2 { #expect(try await load(server) == Self.plain) }
    #expect(server.requestCount == 1)
  }

  // Data that can't be decoded are an error of libcurl's, other than data that end too early.
  @Test(arguments: [Framing.partLength, .closedChunks], ["gzip", "deflate"])
  func `a body that can't be decoded is not stored`(framing: Framing, coding: String) async throws {
    var whole = try Self.data(coding: coding)
    // The first block's type: 3 doesn't exist.
    whole[coding == "gzip" ? 10 : 2] |= 0b110
    let server = try server(framing, coding, whole, count: whole.count)
    for _ in 0..<2 { #expect(try await load(server) == nil) }
    #expect(server.requestCount == 2)
  }
}
