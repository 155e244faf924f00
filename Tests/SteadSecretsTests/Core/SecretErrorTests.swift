import SteadFiles
import SteadSecrets
import Testing

@Suite struct SecretErrorTests {
  @Test(arguments: ["", String(repeating: "a", count: 1025), "a\0b"])
  func refusesNamesThatAStoreCannotTake(_ name: String) {
    #expect(throws: SecretError.self) { try SecretID(service: name, account: "account") }
    #expect(throws: SecretError.self) { try SecretID(service: "service", account: name) }
  }

  /// An account's name with a line end made a line of its own in logs, one with an escape coloured the terminal.
  @Test func namesCannotForgeLinesOfALog() {
    let error = SecretError(
      code: .notFound, message: "There is none in /a\u{1B}[31m/b\nERROR", service: "x\u{202E}y",
      account: "a\"\r\n, account \"b\\")
    #expect(error.message == #"There is none in /a\u{1B}[31m/b\u{A}ERROR"#)
    #expect(
      error.description
        == #"There is none in /a\u{1B}[31m/b\u{A}ERROR (service "x\u{202E}y", "#
        + #"account "a\"\u{D}\u{A}, account \"b\\")"#)
    var longer = error
    longer.message += "\u{7}"
    #expect(longer.message.hasSuffix(#"ERROR\u{7}"#))
    #expect(SecretError(code: .failed, message: "é 🔑").message == "é 🔑")
  }

  // Where HOME is `/`, as in many containers, the error named a directory that nobody may write, and no way out.
  @Test(arguments: [FileError.Code.denied, .readOnly])
  func `an error of files that can't be written names the variables that move them`(
    code: FileError.Code
  ) {
    #expect {
      try SecretError.files { () throws -> Void in
        throw FileError(code: code, message: "Could not create the directory.", path: "/.config")
      }
    } throws: { error in
      guard let error = error as? SecretError, error.code == .accessDenied else { return false }
      return ["/.config", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME,"].allSatisfy {
        error.message.contains($0)
      }
    }
  }

  @Test(arguments: [
    (SecretError.Code.notFound, "notFound"), (.duplicateItem, "duplicateItem"),
    (.changed, "changed"), (.locked, "locked"), (.notInitialized, "notInitialized"),
    (.unavailable, "unavailable"), (.interactionRequired, "interactionRequired"),
    (.cancelled, "cancelled"), (.accessDenied, "accessDenied"), (.tooLarge, "tooLarge"),
    (.corrupt, "corrupt"), (.wrongKey, "wrongKey"), (.rolledBack, "rolledBack"),
    (.anotherVault, "anotherVault"),
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
