#if Server
import Foundation
import SteadSyncProtocol
import Testing
@testable import SteadSyncServer

/// The zones of key-value stores have limits of their own at the server.
@Suite struct KeyValueZoneTests {
  private func set(_ client: TestClient, _ key: String, _ value: SyncValue = 1) -> Mutation {
    client.insert(
      KeyValueZone.recordID(forKey: key) ?? "none", [KeyValueZone.field: value],
      type: KeyValueZone.type)
  }

  private func reason(_ answer: TestAnswer) -> Refusal.Reason? {
    answer.receipt?.refused.last?.reason
  }

  @Test(arguments: EngineCase.all)
  func `keys and bytes beyond the limits are quarantined with figures`(
    in engineCase: EngineCase
  ) async throws {
    try await TestServer.with(engineCase) { server in
      let client = TestClient(device: try await server.device(of: "anna"))
      try await client.makeZone()
      var number: Int64 = 0
      for start in stride(from: 0, to: 1_024, by: 256) {
        number += 1
        let keys = (start..<(start + 256)).map { set(client, "key \($0)") }
        #expect(try await client.push(client.message(number, keys)).receipt?.refused == [])
      }
      let beyond = try await client.push(number + 1, set(client, "one more"))
      #expect(beyond.status == 507 && beyond.error == "quota")
      #expect(reason(beyond) == .recordCount(limit: 1_024, needed: 1_025))
      let large = SyncValue.string(String(repeating: "x", count: 990_000))
      var push = client.message(
        number + 2,
        [
          client.update(
            "key%200", [KeyValueZone.field: large], type: KeyValueZone.type, at: 2)
        ])
      let full = try await client.push(push)
      guard case .quota(limit: 1_000_000, let needed)? = reason(full) else {
        Issue.record("The reason is \(String(describing: reason(full))).")
        return
      }
      #expect(full.status == 507 && needed > 1_000_000)
      // Where a key goes, another has room.
      let delete = client.delete("key%201", type: KeyValueZone.type, at: 2)
      push = client.message(number + 3, [delete, set(client, "one more still")])
      #expect(try await client.push(push).status == 200)
    }
  }

  @Test(arguments: EngineCase.all)
  func `a key of 65 bytes is quarantined`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let client = TestClient(device: try await server.device(of: "anna"))
      try await client.makeZone()
      let id = try #require(RecordID(String(repeating: "k", count: 65)))
      let long = client.insert(id, [KeyValueZone.field: 1], type: KeyValueZone.type)
      #expect(try await reason(client.push(1, long)) == .invalid(id: id))
      #expect(
        try await client.push(2, set(client, String(repeating: "k", count: 64))).status == 200)
      #expect(try await client.changes().ids == [String(repeating: "k", count: 64)])
    }
  }
}
#endif
