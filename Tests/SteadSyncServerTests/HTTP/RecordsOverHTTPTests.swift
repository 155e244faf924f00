#if Server
import Foundation
import SteadSyncProtocol
import Testing
@testable import SteadSyncServer

/// Pushes, pages, waits and limits, over HTTP.
@Suite struct RecordsOverHTTPTests {
  private static let zone = TestClient.zone

  private func owner(_ server: TestServer) async throws -> TestClient {
    let client = TestClient(device: try await server.device(of: "anna"))
    try await client.makeZone()
    return client
  }

  @Test(arguments: EngineCase.all)
  func `what is pushed is in the changes`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let client = try await owner(server)
      let title = SyncValue.string("Ääh \"\\ 😀")
      #expect(try await client.push(1, client.insert("a"), client.insert("b")).status == 200)
      #expect(try await client.push(2, client.update("a", ["title": title], at: 2)).status == 200)
      let first = try #require(try await client.changes(limit: 1).page)
      #expect(first.records.map(\.id) == ["b"] && first.more)
      let second = try #require(try await client.changes(first.cursor).page)
      #expect(second.records.map(\.id) == ["a"] && !second.more && second.last == 2)
      #expect(second.records.first?.fields["title"]?.value == title)
      // The body is spliced of stored bytes, and to the byte what the decoded page encodes to.
      let all = try await client.changes()
      #expect(all.ids == ["b", "a"] && all.fetched?.encoded() == Array(all.body))
      #expect(try await client.changes(second.cursor).ids == [])
    }
  }

  @Test(arguments: EngineCase.all)
  func `fields of two devices are merged by their stamps`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let first = try await owner(server)
      var second = first
      second.device = try await server.device(of: "anna")
      second.id = "other"
      #expect(
        try await first.push(1, first.insert("a", ["title": "1", "text": "1"])).status == 200)
      let late = second.update("a", ["title": "2"], at: 9)
      #expect(try await second.push(1, late).status == 200)
      // Edited before the other edit, pushed after it.
      let early = first.update("a", ["title": "3", "text": "3"], at: 5)
      #expect(try await first.push(2, early).status == 200)
      let record = try #require(try await first.changes().page?.records.first)
      #expect(record.fields.mapValues(\.value) == ["title": "2", "text": "3"])
    }
  }

  @Test(arguments: EngineCase.all)
  func `a transaction is applied once`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let client = try await owner(server)
      #expect(try await client.push(1, client.insert("a")).receipt?.head == 1)
      #expect(try await client.push(1, client.insert("a")).receipt?.head == 1)
      #expect(try await client.push(2, client.insert("b")).receipt?.last == 2)
      let gap = try await client.push(4, client.insert("c"))
      #expect(gap.status == 409 && gap.pushed == .gap && gap.error == "gap")
    }
  }

  @Test(arguments: EngineCase.all)
  func `a tombstone is for those who knew the record`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let client = try await owner(server)
      #expect(try await client.push(1, client.insert("a"), client.insert("b")).status == 200)
      let cursor = try #require(try await client.changes().page?.cursor)
      #expect(try await client.push(2, client.delete("a", at: 2)).status == 200)
      #expect(try await client.changes().ids == ["b"])
      let record = try #require(try await client.changes(cursor).page?.records.first)
      #expect(record.id == "a" && !record.isLive && record.fields.isEmpty)
    }
  }

  @Test(arguments: EngineCase.all)
  func `a transaction beyond the quota is quarantined with figures`(
    in engineCase: EngineCase
  ) async throws {
    try await TestServer.with(engineCase, change: { $0.ownerQuota = 100 }) { server in
      let client = try await owner(server)
      let large = client.insert("b", ["text": .string(String(repeating: "x", count: 200))])
      let answer = try await client.push(1, client.insert("a"), large)
      #expect(answer.status == 507 && answer.error == "quota")
      let refusal = try #require(answer.receipt?.refused.first)
      guard case .quota(let limit, let needed) = refusal.reason else {
        Issue.record("The reason is \(refusal.reason).")
        return
      }
      #expect(limit == 100 && needed > 200)
      #expect(try await client.changes().ids == [])
      // What builds on it is refused as well, and what doesn't is taken.
      var push = client.message(2, [client.update("a", ["text": "1"], at: 2)])
      push.transactions[0].basis = 0
      #expect(try await client.push(push).receipt?.refused.last?.reason == .follows(number: 1))
      push = client.message(3, [client.insert("c")])
      push.transactions[0].basis = 0
      #expect(try await client.push(push).receipt?.head == 1)
      let page = try #require(try await client.changes().page)
      #expect(page.last == 3 && page.refused.map(\.number) == [1, 2])
    }
  }

  @Test func `the limits of a push are enforced`() async throws {
    try await TestServer.with { server in
      let client = try await owner(server)
      let mutations = (0...400).map { client.insert(RecordID("\($0)") ?? "0") }
      let many = try await client.push(client.message(1, mutations))
      #expect(many.status == 413 && many.pushed == .tooLarge)
      let figures = try #require(many.object["figures"] as? [String: Int])
      #expect(figures["mutations"] == 401 && figures["mutation_limit"] == 400)
      let text = SyncValue.string(String(repeating: "x", count: 1 << 20))
      #expect(try await client.push(1, client.insert("a", ["text": text])).pushed == .tooLarge)
      let body = Data(repeating: 0x20, count: Input.maximumPushBody + 1)
      let large = try await client.device.send("POST", "v1/zones/\(Self.zone)/push", body: body)
      #expect(large.status == 413)
      #expect((large.object["figures"] as? [String: Int])?["limit"] == Input.maximumPushBody)
    }
  }

  @Test func `a too busy device is asked to wait`() async throws {
    let time = TestClock()
    try await TestServer.with(
      clock: time.clock,
      change: {
        $0.requestBurst = 3
        $0.requestsPerSecond = 0.5
      }
    ) { server in
      let device = try await server.device(of: "anna")
      for _ in 0..<3 { #expect(try await device.send("GET", "v1/zones").status == 200) }
      let answer = try await device.send("GET", "v1/zones")
      #expect(answer.status == 429 && answer.headers["Retry-After"] == "2")
      let other = try await server.device(of: "anna")
      #expect(try await other.send("GET", "v1/zones").status == 200)
      time.advance(seconds: 2)
      #expect(try await device.send("GET", "v1/zones").status == 200)
    }
  }

  @Test(arguments: EngineCase.all)
  func `a wait ends with a push`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let client = try await owner(server)
      let device = client.device
      async let waiting = device.send("POST", "v1/wait", json: ["zones": [Self.zone: 0]])
      // Whether it comes before or after the wait begins.
      #expect(try await client.push(1, client.insert("a")).status == 200)
      #expect(try await waiting.object["zones"] as? [String] == [Self.zone])
      let still = try await device.send(
        "POST", "v1/wait", json: ["zones": [Self.zone: 1], "seconds": 0])
      #expect(still.object["zones"] as? [String] == [])
      // A head below is news as well: the server has lost something.
      let lost = try await device.send("POST", "v1/wait", json: ["zones": [Self.zone: 2]])
      #expect(lost.object["zones"] as? [String] == [Self.zone])
    }
  }

  @Test func `no error holds a stored value`() async throws {
    try await TestServer.with { server in
      let client = try await owner(server)
      let secret = "s3cr3t-s3cr3t-s3cr3t"
      let bodies: [Any] = [
        ["client": secret], ["v": 1, "client": "c", "device": secret],
        ["v": 1, "client": "c", "device": client.device.device, "anchor": secret],
        [
          "v": 1, "client": "c", "device": client.device.device, "anchor": Mark.start.description,
          "schemaVersion": 0,
          "transactions": [["number": 1, "basis": 0, "mutations": [[secret: secret]]]],
        ],
      ]
      for body in bodies {
        let answer = try await client.device.send(
          "POST", "v1/zones/\(Self.zone)/push", json: body)
        #expect(answer.status == 400)
        #expect(
          !answer.error.isEmpty && !answer.text("message").isEmpty
            && !answer.text("remedy").isEmpty)
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("s3cr3t"))
      }
    }
  }

  @Test func `a compressed push is read up to its limit`() async throws {
    try await TestServer.with { server in
      let client = try await owner(server)
      let json = client.message(1, [client.insert("a")]).encoded()
      let body = try #require(Gzip.compressed(json))
      let path = "v1/zones/\(Self.zone)/push"
      let headers = ["Content-Encoding": "gzip"]
      let device = client.device
      #expect(try await device.send("POST", path, body: Data(body), headers: headers).status == 200)
      let bomb = try #require(Gzip.compressed([UInt8](repeating: 0x20, count: 20 << 20)))
      #expect(try await device.send("POST", path, body: Data(bomb), headers: headers).status == 413)
      #expect(try await device.send("POST", path, body: Data(json), headers: headers).status == 400)
    }
  }
}
#endif
