import Foundation
import SteadFiles
import SteadSecrets
import Testing

/// What `Secrets` adds to its store.
@Suite struct SecretsTests {
  private let secrets: Secrets

  init() throws { secrets = try Secrets(service: "service", store: InMemorySecretStore()) }

  @Test func `refuses a service without a name`() {
    let error = #expect(throws: SecretError.self) {
      try Secrets(service: "", store: InMemorySecretStore())
    }
    #expect(error?.code == .invalidName)
  }

  @Test func `names service and account in errors`() throws {
    let locked = try Secrets(service: "service", store: FailingStore())
    let reading = #expect(throws: SecretError.self) { try locked.string(for: "anna") }
    #expect(reading?.service == "service" && reading?.account == "anna")
    #expect(reading?.code == .locked)
    #expect(try #require(reading).description.hasSuffix(#"(service "service", account "anna")"#))
    let listing = #expect(throws: SecretError.self) { try locked.items() }
    #expect(listing?.service == "service" && listing?.account == nil)
    let writing = #expect(throws: SecretError.self) { try locked.setValue(1, for: "bob") }
    #expect(writing?.account == "bob")
  }

  @Test func `names the service in an error of unlocking`() async throws {
    let locked = try Secrets(service: "service", store: FailingStore())
    let error = await #expect(throws: SecretError.self) { try await locked.unlock() }
    #expect(error?.service == "service")
  }

  /// A program prints errors and objects, into logs.
  @Test func `shows no secret`() throws {
    let word = "hunter2"
    try secrets.set(word, for: "anna")
    var texts: [String] = []
    func note(_ body: () throws -> Void) {
      do { try body() } catch { texts += ["\(error)", String(reflecting: error)] }
    }
    note { _ = try secrets.value(Int.self, for: "anna") }
    note { try secrets.insert(word, for: "anna") }
    note { try secrets.replace(word + "x", with: word, for: "anna") }
    note { try secrets.set(word, for: "anna", attributes: ["account": word]) }
    note { try secrets.set(word, for: "anna", label: word + "\0") }
    note { try secrets.set(word, for: "anna", requirements: .init(accessGroup: "group")) }
    note { _ = try SecretBytes(encoding: [word: Double.infinity]) }
    #expect(texts.count == 14)
    let bytes = try #require(try secrets.bytes(for: "anna"))
    var dumped = ""
    dump(bytes, to: &dumped)
    dump(secrets, to: &dumped)
    texts += [dumped, "\(bytes)", String(reflecting: bytes), "\(secrets)"]
    for text in texts { #expect(!text.contains(word), "\(text)") }
  }

  @Test func `encodes equal values to equal bytes`() throws {
    let value = ["b": 1, "a": 2, "c": 3]
    #expect(try SecretBytes(encoding: value) == SecretBytes("{\"a\":2,\"b\":1,\"c\":3}"))
    #expect(try SecretBytes(encoding: "a/b") == SecretBytes("\"a/b\""))
    #expect(try SecretBytes(encoding: value).decoded(as: [String: Int].self) == value)
  }

  @Test func `lends bytes and passes errors on`() throws {
    try secrets.set("word", for: "anna")
    #expect(try secrets.withBytes(for: "anna") { $0.count } == 4)
    let error = #expect(throws: SecretError.self) {
      try secrets.withBytes(for: "anna") { _ throws(SecretError) in
        throw SecretError(code: .cancelled, message: "Not now.")
      }
    }
    #expect(error?.code == .cancelled)
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try secrets.withBytes(for: "anna") { _ in throw Refusal() }
    }
  }
}

/// A store that is locked for good, with errors that name nothing.
private struct FailingStore: SecretStore {
  private var error: SecretError { SecretError(code: .locked, message: "Locked. Unlock it.") }

  var storeDescription: SecretStoreDescription {
    SecretStoreDescription(kind: .other("failing"), reason: "For a test.")
  }
  var features: Set<SecretStoreFeature> { [.locking] }
  var sizeLimit: Int { 1 << 20 }

  func unlock(timeout: Duration) async throws(SecretError) { throw error }
  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? { throw error }
  func item(for id: SecretID) throws(SecretError) -> SecretItem? { throw error }
  func items(service: String) throws(SecretError) -> [SecretItem] { throw error }
  func items(matching: [String: String]) throws(SecretError) -> [SecretItem] { throw error }
  func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) { throw error }
  func remove(_ id: SecretID) throws(SecretError) -> Bool { throw error }
  func removeAll(service: String) throws(SecretError) -> Int { throw error }
}

// MARK: - Errors

@Suite struct SecretErrorTests {
  @Test(arguments: ["", String(repeating: "a", count: 1025), "a\0b"])
  func `refuses names that a store cannot take`(_ name: String) {
    #expect(throws: SecretError.self) { try SecretID(service: name, account: "account") }
    #expect(throws: SecretError.self) { try SecretID(service: "service", account: name) }
  }

  /// An account's name with a line end made a line of its own in logs, one with an escape coloured the terminal.
  @Test func `names cannot forge lines of a log`() {
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
  func `a code prints as its name`(_ code: SecretError.Code, _ name: String) {
    #expect("\(code)" == name)
  }

  @Test(arguments: [
    (SecretError.Unavailability.noLibrary, "noLibrary"), (.noBus, "noBus"),
    (.noService, "noService"), (.timedOut, "timedOut"), (.disconnected, "disconnected"),
    (.forked, "forked"), (.notOnThisSystem, "notOnThisSystem"),
  ])
  func `a reason prints as its name`(_ reason: SecretError.Unavailability, _ name: String) {
    #expect("\(reason)" == name)
  }
}
