import Testing

@testable import GitCredentialKit

@Suite struct HelperOptionsTests {
  @Test func `the operation alone is enough`() throws {
    let options = try HelperOptions(["get"])
    #expect(options.operation == .get && options.store == .automatic && options.vault == nil)
  }

  @Test func `naming a vault means a vault`() throws {
    let options = try HelperOptions(["--vault", "/v", "--key-file", "/k", "store"])
    #expect(options.store == .vault && options.vault == "/v" && options.keyFile == "/k")
    #expect(options.operation == .store)
  }

  @Test func `a newer Git's operation is passed over`() throws {
    #expect(try HelperOptions(["capability"]).operation == .other("capability"))
  }

  @Test(arguments: [
    [], ["get", "store"], ["--store"], ["--store", "cupboard", "get"], ["--colour", "get"],
    ["--key-file", "/k", "get"], ["--store", "secret-service", "--vault", "/v", "get"],
  ])
  func `what makes no sense is refused`(_ arguments: [String]) {
    #expect(throws: CredentialError.self) { try HelperOptions(arguments) }
  }
}
