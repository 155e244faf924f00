#if Server
import Testing
@testable import SteadSyncServer

@Suite struct RefreshTokenTests {
  private func enrolled(_ engine: StorageEngine) async throws -> String {
    try await engine.write(.server) { session in
      let name = try #require(AccountName("anna"))
      let code = try Invitations.make(name, in: session, now: 0)
      return try Devices.enrol(name, code: code, name: "", in: session, now: 0).get().refresh
    }
  }

  /// The next token; nil if the server refuses.
  private func renew(_ engine: StorageEngine, _ token: String, now: Int64 = 0) async throws
    -> String?
  {
    guard case .renewed(_, let next) = try await outcome(engine, token, now: now) else {
      return nil
    }
    return next
  }

  /// Why the server refuses a token; nil if it doesn't.
  private func refusal(_ engine: StorageEngine, _ token: String, now: Int64) async throws
    -> ServerError?
  {
    guard case .refused(let error) = try await outcome(engine, token, now: now) else { return nil }
    return error
  }

  private func outcome(_ engine: StorageEngine, _ token: String, now: Int64) async throws
    -> RefreshTokens.Outcome
  {
    try await engine.write(.server) { try RefreshTokens.renew(token, in: $0, now: now) }
  }

  @Test(arguments: EngineCase.all)
  func `a token brings its successor`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      var token = try await enrolled(engine)
      for _ in 0..<5 { token = try #require(try await renew(engine, token)) }
    }
  }

  @Test(arguments: EngineCase.all)
  func `a second use after the successor's revokes the device`(
    in engineCase: EngineCase
  ) async throws {
    try await engineCase.with { engine in
      let stolen = try await enrolled(engine)
      let second = try #require(try await renew(engine, stolen))
      let third = try #require(try await renew(engine, second))
      #expect(try await renew(engine, stolen, now: RefreshTokens.leeway) == nil)
      #expect(try await renew(engine, third, now: RefreshTokens.leeway) == nil)
    }
  }

  /// A device was killed while its request was on its way, started again and renewed twice; then the request arrived.
  @Test(arguments: EngineCase.all)
  func `a request late by two renewals locks nobody out`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let token = try await enrolled(engine)
      let second = try #require(try await renew(engine, token, now: 1_000))
      let third = try #require(try await renew(engine, second, now: 2_000))
      let refused = try await refusal(engine, token, now: 2_001 + RefreshTokens.leeway - 1_500)
      #expect(refused?.code == .tooMany)
      #expect(refused?.retryAfter == 2)
      #expect(try await renew(engine, third, now: 2_000 + RefreshTokens.leeway) != nil)
    }
  }

  /// Requests that come before the leeway is over don't lengthen it.
  @Test(arguments: EngineCase.all)
  func `a thief who asks again is found out when the leeway is over`(
    in engineCase: EngineCase
  ) async throws {
    try await engineCase.with { engine in
      let stolen = try await enrolled(engine)
      let second = try #require(try await renew(engine, stolen))
      let third = try #require(try await renew(engine, second))
      for now in stride(from: 0, to: RefreshTokens.leeway, by: 10_000) {
        #expect(try await refusal(engine, stolen, now: now)?.code == .tooMany)
      }
      #expect(try await refusal(engine, stolen, now: RefreshTokens.leeway)?.code == .unauthorized)
      #expect(try await renew(engine, third, now: RefreshTokens.leeway) == nil)
    }
  }

  /// The answer with the successor got lost, and the device asks once more.
  @Test(arguments: EngineCase.all)
  func `a lost answer locks nobody out`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let token = try await enrolled(engine)
      let lost = try #require(try await renew(engine, token))
      let second = try #require(try await renew(engine, token))
      let third = try #require(try await renew(engine, second))
      // Whoever has what got lost is found out.
      #expect(try await renew(engine, lost, now: RefreshTokens.leeway) == nil)
      #expect(try await renew(engine, third, now: RefreshTokens.leeway) == nil)
    }
  }

  /// A device was killed while its request was on its way. It started again, asked once more and kept what it got; then
  /// the first request arrived. The device was revoked when it used what it had kept.
  @Test(arguments: EngineCase.all)
  func `a late request locks nobody out`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let token = try await enrolled(engine)
      let kept = try #require(try await renew(engine, token))
      let late = try #require(try await renew(engine, token))
      let next = try #require(try await renew(engine, kept))
      // Whoever has the answer to the late request is found out.
      #expect(try await renew(engine, late, now: RefreshTokens.leeway) == nil)
      #expect(try await renew(engine, next, now: RefreshTokens.leeway) == nil)
    }
  }

  @Test(arguments: EngineCase.all)
  func `a token expires`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let token = try await enrolled(engine)
      let last = RefreshTokens.lifetime
      #expect(try await renew(engine, token, now: last) == nil)
      #expect(try await renew(engine, token, now: last - 1) != nil)
    }
  }

  @Test(arguments: EngineCase.all)
  func `a stranger's token is refused`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      _ = try await enrolled(engine)
      #expect(try await renew(engine, Secret.token()) == nil)
    }
  }
}
#endif
