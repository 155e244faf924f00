import ExampleTestSupport
import Foundation
import SteadSecrets
import SteadSecretsTesting
import Testing
import TokenKit

@Suite struct TokenStoreTests {
  private let workshop: Workshop
  private let first = Token(access: "a1", refresh: "r1", expires: .distantFuture)
  private let second = Token(access: "a2", refresh: "r2", expires: .distantFuture)

  init() throws { workshop = try Workshop() }

  /// Each call is what a process of its own would open.
  private func store(_ account: String = "anna") throws -> SecretsTokenStore {
    let place = PlaintextTestStore(at: workshop.file("tokens.json"))
    return SecretsTokenStore(try Secrets(service: "org.example", store: place), account: account)
  }

  @Test func `keeps a token for each account`() throws {
    try store().save(first)
    try store("ben").save(second)
    #expect(try store().token() == first)
    #expect(try store("ben").token() == second)
    try store().remove()
    #expect(try store().token() == nil)
    #expect(try store("ben").token() == second)
  }

  @Test func `renews a token`() async throws {
    try store().save(first)
    let (first, second) = (first, second)
    let token = try await store().renew { old in
      #expect(old == first)
      return second
    }
    #expect(token == second)
    #expect(try store().token() == second)
  }

  @Test func `keeps the token of a faster process`() async throws {
    try store().save(first)
    let other = try store()
    let (second, late) = (second, Token(access: "a3", refresh: "r3", expires: .distantFuture))
    let token = try await store().renew { _ in
      try other.save(second)
      return late
    }
    #expect(token == second)
    #expect(try store().token() == second)
  }

  @Test func `stays signed out`() async throws {
    let second = second
    await #expect(throws: TokenStoreError.signedOut) {
      try await store().renew { _ in second }
    }
    try store().save(first)
    let other = try store()
    await #expect(throws: TokenStoreError.signedOut) {
      try await store().renew { _ in
        try other.remove()
        return second
      }
    }
    #expect(try store().token() == nil)
  }

  @Test func `shows no secret`() {
    var text = "\(first)"
    dump(first, to: &text)
    #expect(text.contains("expires") && !text.contains("a1") && !text.contains("r1"))
  }
}
