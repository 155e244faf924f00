#if Server
import Crypto
import Foundation
import Testing
@testable import SteadSyncServer

@Suite struct BlobsOverHTTPTests {
  private static let zone = String(repeating: "0a", count: 16)
  private let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  private var path: String {
    "v1/zones/\(Self.zone)/blobs/" + Secret.hexadecimal(SHA256.hash(data: bytes))
  }

  private func owner(_ server: TestServer) async throws -> TestDevice {
    let device = try await server.device(of: "anna")
    #expect(try await device.send("PUT", "v1/zones/\(Self.zone)").status == 204)
    return device
  }

  @Test(arguments: EngineCase.all)
  func `a blob is sent in parts and fetched whole`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let device = try await owner(server)
      #expect(try await device.send("HEAD", path).status == 404)
      let first = try await device.send(
        "PUT", path, body: bytes[..<100_000],
        headers: ["Content-Range": "bytes 0-99999/300000"])
      #expect(first.status == 202)
      #expect(try await device.send("HEAD", path).headers["Upload-Offset"] == "100000")
      #expect(try await device.send("GET", path).status == 404)
      let rest = try await device.send(
        "PUT", path, body: bytes[100_000...],
        headers: ["Content-Range": "bytes 100000-299999/300000"])
      #expect(rest.status == 201)
      #expect(try await device.send("GET", path).body == bytes)
      let end = try await device.send("GET", path, headers: ["Range": "bytes=299990-"])
      #expect(end.status == 206 && end.body == bytes.suffix(10))
      let usage = try await device.send("GET", "v1/usage")
      #expect(usage.object["bytes"] as? Int == 300_000)
    }
  }

  @Test func `a gap in the bytes is refused with the offset`() async throws {
    try await TestServer.with { server in
      let answer = try await owner(server).send(
        "PUT", path, body: bytes[100_000...],
        headers: ["Content-Range": "bytes 100000-299999/300000"])
      #expect(answer.status == 409)
      #expect((answer.object["figures"] as? [String: Int]) == ["offset": 0])
    }
  }

  @Test func `other bytes than the hash says are refused`() async throws {
    try await TestServer.with { server in
      let device = try await owner(server)
      #expect(try await device.send("PUT", path, body: bytes.dropLast()).status == 409)
      #expect(try await device.send("HEAD", path).headers["Upload-Offset"] == "0")
      #expect(try await device.send("PUT", path, body: bytes).status == 201)
      #expect(try await device.send("PUT", path, body: bytes).status == 204)
    }
  }

  @Test func `a blob beyond the quota is refused and removed`() async throws {
    try await TestServer.with(change: { $0.ownerQuota = 299_999 }) { server in
      let device = try await owner(server)
      #expect(try await device.send("PUT", path, body: bytes).status == 507)
      #expect(try await device.send("GET", path).status == 404)
      let directory = server.server.settings.directory + "/blobs/" + Self.zone
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }
  }
}
#endif
