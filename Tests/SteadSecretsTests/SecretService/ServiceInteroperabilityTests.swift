import Foundation
import SteadSecrets
import Testing

/// The items are those of every other program: what `secret-tool` keeps can be read here, and back.
@Suite(.needs(.keyring)) struct ServiceInteroperabilityTests {
  private let session: KeyringSession
  private let secrets: Secrets

  init() throws {
    session = try KeyringSession()
    secrets = try Secrets(
      service: "S",
      store: SecretService(timeout: .seconds(120), environment: session.environment))
  }

  /// Keeps a secret as another program does, with whatever attributes.
  private func store(_ secret: String, label: String = "theirs", _ attributes: String...) throws {
    let run = try ToolRun(
      ["secret-tool", "store", "--label=\(label)"] + attributes, environment: session.environment,
      input: Data(secret.utf8))
    try #require(run.status == 0)
  }

  private func look(_ attributes: String...) throws -> Data {
    try ToolRun(["secret-tool", "lookup"] + attributes, environment: session.environment).output
  }

  @Test func `reads and changes and removes what secret-tool kept`() throws {
    try store("theirs", "service", "S", "account", "A", "url", "https://example.org")
    #expect(try secrets.string(for: "A") == "theirs")
    let item = try #require(try secrets.item(for: "A"))
    #expect(item.label == "theirs" && item.attributes == ["url": "https://example.org"])
    #expect(item.created != nil && item.modified != nil)

    try secrets.set("ours", for: "A")
    #expect(
      try look("service", "S", "account", "A", "url", "https://example.org") == Data("ours".utf8))
    #expect(try secrets.remove("A"))
    #expect(try look("service", "S", "account", "A") == Data())
  }

  @Test func `is read and removed by secret-tool`() throws {
    try secrets.set(
      "ours", for: "A", label: "Our label", attributes: ["url": "https://example.org"])
    #expect(try look("service", "S", "account", "A") == Data("ours".utf8))
    #expect(try look("url", "https://example.org") == Data("ours".utf8))
    #expect(
      try look("xdg:schema", "org.freedesktop.Secret.Generic", "service", "S") == Data("ours".utf8))
    let found = try session.secretTool("search", "service", "S").text
    #expect(found.contains("label = Our label"))

    #expect(try session.secretTool("clear", "service", "S", "account", "A").status == 0)
    #expect(try secrets.string(for: "A") == nil)
    #expect(try secrets.accounts() == [])
  }

  @Test func `changes the item that another program made in place`() throws {
    try store("theirs", "service", "S", "account", "A", "more", "1")
    try secrets.set("ours", for: "A", label: "Ours", attributes: ["other": "2"])
    #expect(try secrets.items().count == 1)
    #expect(try look("service", "S", "account", "A", "more", "1") == Data())
    #expect(try look("service", "S", "account", "A", "other", "2") == Data("ours".utf8))
  }

  @Test func `counts the newest of several and removes all`() throws {
    // Other attributes make another item to secret-tool, of the same name to us.
    try store("first", "service", "S", "account", "A", "n", "1")
    try store("second", "service", "S", "account", "A", "n", "2")
    try store("third", "service", "S", "account", "A", "n", "3")
    #expect(try secrets.string(for: "A") == "third")
    #expect(try secrets.items().map(\.attributes) == [["n": "3"]])

    try secrets.set("ours", for: "A")
    #expect(try secrets.string(for: "A") == "ours")
    #expect(try look("service", "S", "account", "A", "n", "3") == Data("ours".utf8))
    #expect(try look("service", "S", "account", "A", "n", "1") == Data("first".utf8))

    #expect(try secrets.removeAll() == 1)
    #expect(try look("service", "S", "account", "A") == Data())
    #expect(try secrets.remove("A") == false)
  }

  @Test func `leaves alone what is not of its names`() throws {
    try store("other service", "service", "T", "account", "A")
    try store("no account", "service", "S", "user", "A")
    try store("no service", "account", "A", "kind", "bare")
    try secrets.set("ours", for: "A")
    #expect(try secrets.accounts() == ["A"])
    #expect(try secrets.removeAll() == 1)
    #expect(try look("service", "T", "account", "A") == Data("other service".utf8))
    #expect(try look("service", "S", "user", "A") == Data("no account".utf8))
    #expect(try look("kind", "bare") == Data("no service".utf8))
  }

  @Test func `sees one collection only`() throws {
    let passing = try Secrets(
      service: "S",
      store: SecretService(
        collection: .session, timeout: .seconds(120), environment: session.environment))
    try passing.set("passing", for: "A")
    #expect(try secrets.string(for: "A") == nil)
    try secrets.set("kept", for: "A")
    #expect(try passing.string(for: "A") == "passing")
    #expect(try secrets.remove("A"))
    #expect(try passing.string(for: "A") == "passing")
    try session.restartUnlocked()
    #expect(try passing.string(for: "A") == nil)
  }

  /// Bytes that are no text travel as they are; `secret-tool` prints them as they are, too.
  @Test func `exchanges bytes that are no text`() throws {
    let bytes = Data([0, 0xFF, 0xFE, 10, 0, 1])
    try secrets.set(bytes, for: "A")
    #expect(try secrets.data(for: "A") == bytes)
    #expect(try look("service", "S", "account", "A") == bytes)
  }

  /// What the documentation says of GNOME Keyring: values of attributes are in its file as MD5, without
  /// salt, and the secret is not.
  @Test func `leaves hashes of names in the open`() throws {
    try secrets.set("correct horse battery", for: "anna@example.org")
    let keyrings = session.bus.directory.file("home").file("data").file("keyrings")
    let file = try Data(contentsOf: keyrings.file("login.keyring"))
    // md5("anna@example.org")
    #expect(file.contains(Data("7771093713556e85d7a876c08cb5bb63".utf8)))
    #expect(!file.contains(Data("correct horse battery".utf8)))
  }
}
