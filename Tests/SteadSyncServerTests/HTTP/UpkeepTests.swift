#if Server
import Crypto
import Foundation
import SteadSyncProtocol
import Testing
@testable import SteadSyncServer

/// What goes with time: tombstones after 180 days, and blobs a day after their last reference.
@Suite struct UpkeepTests {
  private static let day: Int64 = 86_400

  @Test(arguments: EngineCase.all)
  func `old tombstones go and older cursors expire`(in engineCase: EngineCase) async throws {
    let time = TestClock()
    try await TestServer.with(engineCase, clock: time.clock) { server in
      var client = TestClient(device: try await server.device(of: "anna"))
      try await client.makeZone()
      #expect(try await client.push(1, client.insert("a"), client.insert("b")).status == 200)
      let old = try #require(try await client.changes().page?.cursor)
      #expect(try await client.push(2, client.delete("a", at: 2)).status == 200)
      let later = try #require(try await client.changes().page?.cursor)
      try await server.server.keepUp()
      #expect(try await client.changes(old).ids == ["a"])
      time.advance(seconds: 181 * Self.day)
      client.device = try client.device.renewed()
      try await server.server.keepUp()
      let answer = try await client.changes(old)
      #expect(answer.status == 410 && answer.fetched == .expired && answer.error == "expired")
      #expect(try await client.changes(later).page?.purged == 3)
      #expect(try await client.changes().ids == ["b"])
      // A push of a client that has seen less is refused, one that has seen all is taken.
      let late = try await client.push(3, client.insert("c"))
      #expect(late.status == 410 && late.pushed == .expired)
      client.anchor = later.anchor
      #expect(try await client.push(3, client.insert("c")).receipt?.head == 4)
    }
  }

  @Test(arguments: EngineCase.all)
  func `a blob goes a day after its last reference`(in engineCase: EngineCase) async throws {
    let time = TestClock()
    try await TestServer.with(engineCase, clock: time.clock) { server in
      var client = TestClient(device: try await server.device(of: "anna"))
      client.schema = Schema(version: 1, entities: ["Note": EntityRules(fields: ["image": .blob])])
      try await client.makeZone()
      let bytes = Data("an image".utf8)
      let hash = Secret.hexadecimal(SHA256.hash(data: bytes))
      let value = SyncValue.object(["sha256": .string(hash), "size": .int(8)])
      let path = "v1/zones/\(client.zone)/blobs/\(hash)"

      let push = client.message(1, [client.insert("a", ["image": value])], schema: client.schema)
      let missing = try await client.push(push)
      #expect(missing.status == 409 && missing.error == "missing_blobs")
      #expect(missing.pushed == .blobsMissing([try #require(BlobID(hash))]))
      #expect(try await client.device.send("PUT", path, body: bytes).status == 201)
      #expect(try await client.push(push).status == 200)

      // Named by a record, it stays.
      time.advance(seconds: 10 * Self.day)
      client.device = try client.device.renewed()
      try await server.server.keepUp()
      #expect(try await client.device.send("GET", path).body == bytes)

      #expect(try await client.push(2, client.delete("a", at: 2)).status == 200)
      time.advance(seconds: Self.day - 60)
      client.device = try client.device.renewed()
      try await server.server.keepUp()
      #expect(try await client.device.send("GET", path).status == 200)
      time.advance(seconds: 120)
      try await server.server.keepUp()
      #expect(try await client.device.send("GET", path).status == 404)
      #expect(try await client.device.send("GET", "v1/usage").object["bytes"] as? Int == 0)
      let files = try FileManager.default.contentsOfDirectory(
        atPath: server.server.settings.directory + "/blobs/" + client.zone)
      #expect(files.isEmpty)
      // It can come again.
      #expect(try await client.device.send("PUT", path, body: bytes).status == 201)
    }
  }

  @Test func `a blob that is sent again stays for another day`() async throws {
    let time = TestClock()
    try await TestServer.with(clock: time.clock) { server in
      var client = TestClient(device: try await server.device(of: "anna"))
      try await client.makeZone()
      let bytes = Data("an image".utf8)
      let path =
        "v1/zones/\(client.zone)/blobs/" + Secret.hexadecimal(SHA256.hash(data: bytes))
      #expect(try await client.device.send("PUT", path, body: bytes).status == 201)
      time.advance(seconds: Self.day - 60)
      client.device = try client.device.renewed()
      #expect(try await client.device.send("PUT", path, body: bytes).status == 204)
      time.advance(seconds: 120)
      try await server.server.keepUp()
      #expect(try await client.device.send("HEAD", path).status == 200)
    }
  }
}
#endif
