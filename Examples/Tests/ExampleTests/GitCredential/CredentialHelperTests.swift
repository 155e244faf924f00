import SteadSecrets
import Testing

@testable import GitCredentialKit

@Suite struct CredentialHelperTests {
  private let store = InMemorySecretStore()
  private let helper: CredentialHelper

  init() {
    let store = store
    helper = CredentialHelper { () throws(SecretError) in
      try Secrets(service: CredentialPlace.service, store: store)
    }
  }

  private func request(_ lines: String...) throws -> CredentialRequest {
    let all = ["protocol=https", "host=example.org"] + lines
    return try CredentialRequest(SecretBytes(all.joined(separator: "\n")))
  }

  private func reply(_ lines: String...) throws -> String? {
    try helper.get(request(lines.joined(separator: "\n")))?.withBytes {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private var secrets: Secrets {
    get throws { try Secrets(service: CredentialPlace.service, store: store) }
  }
  private var accounts: [String] {
    get throws { try secrets.items().compactMap { $0.attributes["username"] } }
  }
  private static let anna = "https://anna@example.org"

  @Test func `what is stored is got`() throws {
    #expect(try reply("username=anna") == nil)
    try helper.store(request("username=anna", "password=secret"))
    #expect(try reply("username=anna") == "username=anna\npassword=secret\n")
    #expect(try reply("username=bob") == nil)
  }

  @Test func `the only account needs no name`() throws {
    try helper.store(request("username=anna", "password=secret"))
    #expect(try reply() == "username=anna\npassword=secret\n")
    try helper.store(request("username=bob", "password=other"))
    #expect(try reply() == nil)
  }

  @Test func `expiry and refresh token come back`() throws {
    try helper.store(
      request(
        "username=anna", "password=secret", "password_expiry_utc=1800000000",
        "oauth_refresh_token=r"))
    #expect(
      try reply() == """
        username=anna
        password=secret
        password_expiry_utc=1800000000
        oauth_refresh_token=r

        """)
  }

  /// Somebody else's item may have lines that git would take for attributes.
  @Test func `only known lines of an item are sent`() throws {
    try helper.store(request("username=anna", "password=secret"))
    try secrets.set("secret\nhost=evil.example\nquit=1", for: Self.anna)
    #expect(try reply() == "username=anna\npassword=secret\n")
  }

  /// git would read attributes that nobody has stored.
  @Test(arguments: [("an\nhost=evil", "s"), ("an\rna", "s"), ("anna", "s\r"), ("anna", "s\0t")])
  func `what does not fit a line is not sent`(_ username: String, _ password: String) throws {
    let place = try #require(CredentialPlace(request()))
    try secrets.set(
      password, for: place.account(of: username),
      attributes: place.attributes.merging(["username": username]) { $1 })
    #expect(throws: SecretError.self) { try reply() }
  }

  @Test func `what is not to be kept is not`() throws {
    try helper.store(request("username=anna", "password=secret", "ephemeral=1"))
    try helper.store(request("username=anna"))
    try helper.store(request("username=", "password=secret"))
    try helper.store(request("username=anna", "authtype=Bearer", "credential=token"))
    #expect(try accounts.isEmpty)
  }

  @Test func `what Git has just got is not written again`() throws {
    try helper.store(request("username=anna", "password=secret"))
    let first = try secrets.item(for: Self.anna)?.modified
    #expect(first != nil)
    try helper.store(request("username=anna", "password=secret"))
    #expect(try secrets.item(for: Self.anna)?.modified == first)
    try helper.store(request("username=anna", "password=new"))
    #expect(try secrets.item(for: Self.anna)?.modified != first)
  }

  /// A second git may have stored a new password while the first one found the old one refused.
  @Test func `only the password that was refused is erased`() throws {
    try helper.store(request("username=anna", "password=new"))
    try helper.erase(request("username=anna", "password=old"))
    try helper.erase(request("password=old"))
    try helper.erase(request("username=bob"))
    #expect(try accounts == ["anna"])
    try helper.erase(request("username=anna", "password=new"))
    #expect(try accounts.isEmpty)
  }

  @Test func `without a password, all that fit is erased`() throws {
    try helper.store(request("username=anna", "password=a"))
    try helper.store(request("username=bob", "password=b"))
    try helper.erase(request("username=anna"))
    #expect(try accounts == ["bob"])
    try helper.store(request("username=anna", "password=a"))
    try helper.erase(request())
    #expect(try accounts.isEmpty)
  }

  @Test func `each path has a password of its own`() throws {
    try helper.store(request("path=a.git", "username=anna", "password=a"))
    #expect(try reply("username=anna") == nil)
    #expect(try reply("path=b.git", "username=anna") == nil)
    #expect(try reply("path=a.git", "username=anna") == "username=anna\npassword=a\n")
    // One of a repository is not the server's, and the other way round.
    #expect(try reply() == nil)
    try helper.store(request("username=bob", "password=b"))
    #expect(try reply() == "username=bob\npassword=b\n")
    #expect(try reply("path=a.git") == "username=anna\npassword=a\n")
    #expect(try reply("path=b.git") == nil)
    try helper.erase(request())
    #expect(try accounts == ["anna"])
  }

  @Test func `each server has passwords of its own`() throws {
    try helper.store(request("username=anna", "password=a"))
    let other = try CredentialRequest(
      SecretBytes("protocol=https\nhost=example.com\nusername=anna\npassword=b"))
    try helper.store(other)
    #expect(try reply() == "username=anna\npassword=a\n")
    try helper.erase(request())
    #expect(try helper.get(other) != nil)
    #expect(try reply() == nil)
  }
}
