import SteadSecrets
import Testing

@Suite struct SecretErrorTests {
  @Test(arguments: ["", String(repeating: "a", count: 1025), "a\0b"])
  func refusesNamesThatAStoreCannotTake(_ name: String) {
    #expect(throws: SecretError.self) { try SecretID(service: name, account: "account") }
    #expect(throws: SecretError.self) { try SecretID(service: "service", account: name) }
  }
}
