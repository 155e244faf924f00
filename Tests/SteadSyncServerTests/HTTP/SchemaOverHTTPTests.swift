#if Server
import Foundation
import SteadSyncProtocol
import Testing
@testable import SteadSyncServer

/// The rules that come with a schema, over HTTP.
@Suite struct SchemaOverHTTPTests {
  private static let schema = Schema(
    version: 1,
    entities: [
      "Tag": EntityRules(unique: [UniqueRule("name", fields: ["name"])]),
      "Note": EntityRules(fields: ["tag": .reference(.deny)]),
    ])

  private func owner(_ server: TestServer) async throws -> TestClient {
    var client = TestClient(device: try await server.device(of: "anna"))
    client.schema = Self.schema
    try await client.makeZone()
    return client
  }

  @Test(arguments: EngineCase.all)
  func `duplicates of a unique key become one record`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let client = try await owner(server)
      let first = client.message(1, [client.insert("a", ["name": "x"], type: "Tag", at: 5)])
      let wanted = try await client.push(first)
      #expect(wanted.status == 409 && wanted.pushed == .schemaWanted)
      #expect(wanted.error == "schema_wanted")
      var described = first
      described.schema = Self.schema
      #expect(try await client.push(described).status == 200)
      // Older, and pushed later.
      let older = client.insert("b", ["name": "x", "color": "red"], type: "Tag", at: 4)
      #expect(
        try await client.push(2, older, client.insert("n", ["tag": "a"], at: 6)).status == 200)
      let records = try #require(try await client.changes().page?.records)
      let tag = try #require(records.first { $0.id == "b" })
      #expect(tag.isLive && tag.fields["color"]?.value == "red" && tag.live.count == 2)
      #expect(records.first { $0.id == "n" }?.fields["tag"]?.value == "b")
      #expect(!records.contains { $0.id == "a" })
    }
  }

  @Test(arguments: EngineCase.all)
  func `a denied deletion is quarantined with its reason`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let client = try await owner(server)
      let tag = client.insert("a", ["name": "x"], type: "Tag")
      let note = client.insert("n", ["tag": "a"])
      #expect(
        try await client.push(client.message(1, [tag, note], schema: Self.schema)).status == 200)
      let answer = try await client.push(2, client.delete("a", type: "Tag", at: 2))
      #expect(answer.status == 200)
      #expect(answer.receipt?.refused.map(\.reason) == [.denied(deleted: "a", referrer: "n")])
      #expect(Set(try await client.changes().ids) == ["a", "n"])
    }
  }

  @Test func `a schema that contradicts the zones is refused`() async throws {
    try await TestServer.with { server in
      var client = try await owner(server)
      #expect(
        try await client.push(client.message(1, [client.insert("n")], schema: Self.schema)).status
          == 200)
      client.schema = Schema(
        version: 2, entities: ["Note": EntityRules(fields: ["tag": .reference(.cascade)])])
      let answer = try await client.push(
        client.message(2, [client.insert("m")], schema: client.schema))
      #expect(answer.status == 409 && answer.pushed == .schemaConflict)
    }
  }

  /// Devices of several versions share a zone: each adds what it knows.
  @Test func `rules that a schema leaves out stay`() async throws {
    try await TestServer.with { server in
      var client = try await owner(server)
      let first = client.message(
        1, [client.insert("a", ["name": "x"], type: "Tag", at: 5)], schema: Self.schema)
      #expect(try await client.push(first).status == 200)
      client.schema = Schema(version: 2, entities: ["Tag": EntityRules()])
      let second = client.message(
        2, [client.insert("b", ["name": "x"], type: "Tag", at: 6)], schema: client.schema)
      #expect(try await client.push(second).status == 200)
      let records = try #require(try await client.changes().page?.records)
      #expect(records.filter(\.isLive).map(\.id) == ["a"], "the name is still unique")
    }
  }

  @Test func `an old app reads what it may no longer write`() async throws {
    try await TestServer.with { server in
      let client = try await owner(server)
      #expect(
        try await client.push(client.message(1, [client.insert("n")], schema: Self.schema)).status
          == 200)
      let path = "v1/zones/\(client.zone)/schema"
      #expect(try await client.device.send("PUT", path, json: ["minimum": 2]).status == 204)
      let answer = try await client.push(2, client.insert("m"))
      #expect(answer.status == 412 && answer.pushed == .schemaTooOld(minimum: 2))
      #expect((answer.object["figures"] as? [String: Int]) == ["minimum": 2, "sent": 1])
      #expect(try await client.changes().ids == ["n"])
      let other = try await server.device(of: "bert")
      #expect(try await other.send("PUT", path, json: ["minimum": 3]).status == 404)
    }
  }
}
#endif
