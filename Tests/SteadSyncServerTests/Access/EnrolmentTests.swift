#if Server
import Crypto
import Testing
@testable import SteadSyncServer

@Suite struct EnrolmentTests {
  private let name = AccountName("anna")!
  private let minute: Int64 = 60_000

  private func invite(_ engine: StorageEngine, now: Int64 = 0) async throws -> String {
    try await engine.write(.server) { try Invitations.make(self.name, in: $0, now: now) }
  }

  private func enrol(_ engine: StorageEngine, code: String, now: Int64 = 0) async throws
    -> Devices.Grant?
  {
    let result = try await engine.write(.server) {
      try Devices.enrol(self.name, code: code, name: "laptop", in: $0, now: now)
    }
    return try? result.get()
  }

  @Test(arguments: EngineCase.all)
  func `a code enrols one device`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let code = try await invite(engine)
      #expect(try await enrol(engine, code: code.lowercased()) != nil)
      #expect(try await enrol(engine, code: code) == nil)
    }
  }

  @Test(arguments: EngineCase.all)
  func `a code expires`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let codes = [try await invite(engine), try await invite(engine)]
      #expect(try await enrol(engine, code: codes[0], now: Invitations.lifetime - 1) != nil)
      #expect(try await enrol(engine, code: codes[1], now: Invitations.lifetime) == nil)
    }
  }

  @Test(arguments: EngineCase.all)
  func `five wrong codes end all codes`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let first = try await invite(engine)
      for _ in 0..<4 { #expect(try await enrol(engine, code: "0000-0000-0000") == nil) }
      #expect(try await enrol(engine, code: first) != nil)
      let second = try await invite(engine)
      for _ in 0..<5 { #expect(try await enrol(engine, code: "0000-0000-0000") == nil) }
      #expect(try await enrol(engine, code: second) == nil)
    }
  }

  @Test(arguments: EngineCase.all)
  func `a code is for its user alone`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let code = try await invite(engine)
      let other = try #require(AccountName("bert"))
      let result = try await engine.write(.server) { session in
        _ = try Invitations.make(other, in: session, now: 0)
        return try Devices.enrol(other, code: code, name: "", in: session, now: 0)
      }
      #expect(throws: ServerError.self) { try result.get() }
    }
  }

  @Test(arguments: EngineCase.all)
  func `the database holds neither codes nor tokens`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let code = try await invite(engine)
      let grant = try #require(try await enrol(engine, code: try await invite(engine)))
      let rows = try await engine.read { session in
        try session.rows("SELECT hash FROM invitations", [])
          + session.rows("SELECT hash FROM refresh_tokens", [])
      }
      let hashes = [code.filter { $0 != "-" }, grant.refresh].map {
        Array(SHA256.hash(data: Array($0.utf8)))
      }
      #expect(try rows.map { try $0.bytes(0) } == hashes)
    }
  }
}
#endif
