import Testing

@testable import GitCredentialKit

@Suite struct HelperOptionsTests {
  @Test func theOperationAloneIsEnough() throws {
    let options = try HelperOptions(["get"])
    #expect(options.operation == .get && options.store == .automatic && options.vault == nil)
  }

  @Test func namingAVaultMeansAVault() throws {
    let options = try HelperOptions(["--vault", "/v", "--key-file", "/k", "store"])
    #expect(options.store == .vault && options.vault == "/v" && options.keyFile == "/k")
    #expect(options.operation == .store)
  }

  @Test func aNewerGitsOperationIsPassedOver() throws {
    #expect(try HelperOptions(["capability"]).operation == .other("capability"))
  }

  @Test(arguments: [
    [], ["get", "store"], ["--store"], ["--store", "cupboard", "get"], ["--colour", "get"],
    ["--key-file", "/k", "get"], ["--store", "secret-service", "--vault", "/v", "get"],
  ])
  func whatMakesNoSenseIsRefused(_ arguments: [String]) {
    #expect(throws: CredentialError.self) { try HelperOptions(arguments) }
  }
}
