import SteadSecrets
import Testing

@Suite struct SecretErrorTests {
  @Test(arguments: ["", String(repeating: "a", count: 1025), "a\0b"])
  func refusesNamesThatAStoreCannotTake(_ name: String) {
    #expect(throws: SecretError.self) { try SecretID(service: name, account: "account") }
    #expect(throws: SecretError.self) { try SecretID(service: "service", account: name) }
  }

  @Test(arguments: [
    (SecretError.Code.notFound, "notFound"), (.duplicateItem, "duplicateItem"),
    (.changed, "changed"), (.locked, "locked"), (.notInitialized, "notInitialized"),
    (.unavailable, "unavailable"), (.interactionRequired, "interactionRequired"),
    (.cancelled, "cancelled"), (.accessDenied, "accessDenied"), (.tooLarge, "tooLarge"),
    (.corrupt, "corrupt"), (.wrongKey, "wrongKey"), (.rolledBack, "rolledBack"),
    (.unsupported, "unsupported"), (.notDecodable, "notDecodable"),
    (.invalidName, "invalidName"), (.noSpace, "noSpace"), (.newerVersion, "newerVersion"),
    (.failed, "failed"),
  ])
  func aCodePrintsAsItsName(_ code: SecretError.Code, _ name: String) {
    #expect("\(code)" == name)
  }

  @Test(arguments: [
    (SecretError.Unavailability.noLibrary, "noLibrary"), (.noBus, "noBus"),
    (.noService, "noService"), (.timedOut, "timedOut"), (.disconnected, "disconnected"),
    (.forked, "forked"), (.notOnThisSystem, "notOnThisSystem"),
  ])
  func aReasonPrintsAsItsName(_ reason: SecretError.Unavailability, _ name: String) {
    #expect("\(reason)" == name)
  }
}
