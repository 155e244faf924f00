#if Server
import SteadSyncProtocol
import Testing
@testable import SteadSyncServer

/// Who gets in, asked of a server over HTTP.
@Suite struct AccessOverHTTPTests {
  private static let zone = String(repeating: "0a", count: 16)

  private func push(_ device: TestDevice, number: Int64 = 1) async throws -> TestAnswer {
    let client = TestClient(device: device, zone: Self.zone)
    return try await client.push(number, client.insert(RecordID("n\(number)") ?? "n"))
  }

  @Test(arguments: EngineCase.all)
  func `a device of another user finds no zone`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let anna = try await server.device(of: "anna")
      let bert = try await server.device(of: "bert")
      #expect(try await anna.send("PUT", "v1/zones/\(Self.zone)").status == 204)
      #expect(try await push(bert).status == 404)
      for path in ["changes?client=c", "members", "blobs/" + String(repeating: "ab", count: 32)] {
        let answer = try await bert.send("GET", "v1/zones/\(Self.zone)/\(path)")
        #expect(answer.status == 404 && answer.text("message").contains("isn't a member"))
      }
      let wait = try await bert.send(
        "POST", "v1/wait", json: ["zones": [Self.zone: 0], "seconds": 0])
      #expect(wait.status == 404)
      #expect(try await bert.send("PUT", "v1/zones/\(Self.zone)").status == 404)
      #expect(try await bert.send("DELETE", "v1/zones/\(Self.zone)").status == 404)
    }
  }

  @Test func `a token for one zone opens no other`() async throws {
    try await TestServer.with { server in
      let anna = try await server.device(of: "anna")
      #expect(try await anna.send("PUT", "v1/zones/\(Self.zone)").status == 204)
      let other = String(repeating: "0b", count: 16)
      let bert = try await server.device(of: "bert")
      #expect(try await bert.send("PUT", "v1/zones/\(other)").status == 204)
      #expect(try await anna.send("GET", "v1/zones/\(other)/changes?client=c").status == 404)
    }
  }

  @Test func `the token's device has to be the user's`() async throws {
    try await TestServer.with { server in
      let anna = try await server.device(of: "anna")
      var bert = try await server.device(of: "bert")
      // Signed by the server's own key: only the device is wrong.
      let token = AccessToken(account: "bert", device: anna.device)
      bert.access = try token.signed(with: server.server.keys, clock: .system)
      let answer = try await bert.send("GET", "v1/zones")
      #expect(answer.status == 401 && answer.error == "unauthorized")
    }
  }

  @Test func `a client belongs to its device`() async throws {
    try await TestServer.with { server in
      let first = try await server.device(of: "anna")
      let second = try await server.device(of: "anna")
      #expect(try await first.send("PUT", "v1/zones/\(Self.zone)").status == 204)
      #expect(try await push(first).status == 200)
      #expect(try await push(second, number: 2).status == 403)
    }
  }

  @Test func `a push names the device of its token`() async throws {
    try await TestServer.with { server in
      let first = try await server.device(of: "anna")
      let second = try await server.device(of: "anna")
      #expect(try await first.send("PUT", "v1/zones/\(Self.zone)").status == 204)
      let client = TestClient(device: first, zone: Self.zone)
      var push = client.message(1, [client.insert("a")])
      #expect(try await TestClient(device: second, zone: Self.zone).push(push).status == 403)
      // The push is the token's, a stamp in it is not.
      let other = TestClient(device: second, zone: Self.zone)
      push.transactions[0].mutations = [other.insert("a")]
      let answer = try await client.push(push)
      #expect(answer.status == 200 && answer.receipt?.refused.map(\.reason) == [.device])
      #expect(try await client.changes().ids == [])
    }
  }

  @Test(arguments: EngineCase.all)
  func `a revoked device is out at once`(in engineCase: EngineCase) async throws {
    try await TestServer.with(engineCase) { server in
      let first = try await server.device(of: "anna")
      let second = try await server.device(of: "anna")
      #expect(try await first.send("PUT", "v1/zones/\(Self.zone)").status == 204)
      #expect(try await first.send("DELETE", "v1/devices/\(second.device)").status == 204)
      #expect(try await second.send("GET", "v1/zones/\(Self.zone)/changes?client=c").status == 401)
      let renewal = try await server.send(
        "POST", "v1/token", json: ["refresh_token": second.refresh])
      #expect(renewal.status == 401)
      #expect(try await first.send("GET", "v1/zones").status == 200)
    }
  }

  @Test func `nobody revokes a device of another`() async throws {
    try await TestServer.with { server in
      let anna = try await server.device(of: "anna")
      let bert = try await server.device(of: "bert")
      #expect(try await bert.send("DELETE", "v1/devices/\(anna.device)").status == 404)
      #expect(try await anna.send("GET", "v1/zones").status == 200)
    }
  }

  @Test(arguments: EngineCase.all)
  func `a shared zone is read or written as its owner says`(
    in engineCase: EngineCase
  ) async throws {
    try await TestServer.with(engineCase) { server in
      let anna = try await server.device(of: "anna")
      let bert = try await server.device(of: "bert")
      let members = "v1/zones/\(Self.zone)/members"
      #expect(try await anna.send("PUT", "v1/zones/\(Self.zone)").status == 204)
      #expect(try await anna.send("PUT", "\(members)/bert", json: ["role": "read"]).status == 204)
      #expect(try await bert.send("GET", "v1/zones/\(Self.zone)/changes?client=c").status == 200)
      #expect(try await push(bert).error == "forbidden")
      #expect(try await bert.send("PUT", "\(members)/bert", json: ["role": "write"]).status == 403)
      #expect(try await anna.send("PUT", "\(members)/bert", json: ["role": "write"]).status == 204)
      #expect(try await push(bert).status == 200)
      #expect(try await bert.send("DELETE", "v1/zones/\(Self.zone)").status == 403)
      #expect(try await anna.send("DELETE", "\(members)/anna").status == 409)
      #expect(try await bert.send("DELETE", "\(members)/bert").status == 204)
      #expect(try await bert.send("GET", "v1/zones/\(Self.zone)/changes?client=c").status == 404)
    }
  }

  @Test func `an expired token is refused until it is renewed`() async throws {
    let time = TestClock()
    try await TestServer.with(clock: time.clock) { server in
      var anna = try await server.device(of: "anna")
      time.advance(seconds: 900)
      let answer = try await anna.send("GET", "v1/zones")
      #expect(answer.status == 401 && answer.text("message") == "The access token has expired.")
      let renewal = try await server.send("POST", "v1/token", json: ["refresh_token": anna.refresh])
      anna.access = renewal.text("access_token")
      #expect(try await anna.send("GET", "v1/zones").status == 200)
    }
  }

  @Test func `a request without a token is refused`() async throws {
    try await TestServer.with { server in
      let answer = try await server.send("GET", "v1/zones")
      #expect(answer.status == 401 && !answer.text("remedy").isEmpty)
      let basic = try await server.send("GET", "v1/zones", headers: ["Authorization": "Basic YTpi"])
      #expect(basic.status == 401)
    }
  }
}
#endif
