import SteadSecrets
import Testing

@testable import GitCredentialKit

@Suite struct CredentialRequestTests {
  @Test func `reads what Git sends`() throws {
    let request = try CredentialRequest(
      SecretBytes(
        """
        capability[]=authtype
        protocol=https
        host=example.org:8443
        path=notes.git
        username=anna
        password=a=b c
        password_expiry_utc=1800000000
        oauth_refresh_token=r
        wwwauth[]=Basic realm="x"
        state[]=other=1
        unheard-of=1

        host=ignored.example.org
        """))
    let place = try #require(CredentialPlace(request))
    #expect(place.url == "https://example.org:8443/notes.git")
    #expect(
      place.attributes == ["protocol": "https", "host": "example.org:8443", "path": "notes.git"])
    #expect(request.username == "anna")
    #expect(request.password == SecretBytes("a=b c"))
    #expect(request.expiry == "1800000000")
    #expect(request.refreshToken == SecretBytes("r"))
    #expect(!request.isEphemeral)
  }

  @Test(arguments: [
    ("protocol=https\nhost=Example.ORG\n", "https://example.org"),
    ("protocol=https\nhost=example.org\npath=\n", "https://example.org"),
    ("protocol=cert\nhost=\npath=home/anna/key.pem\n", "cert:///home/anna/key.pem"),
    ("url=https://example.org/", "https://example.org"),
    ("url=https://anna:s%2F@example.org:80//a/b%20c/", "https://example.org:80/a/b%20c"),
    ("host=first.example.org\nurl=ssh://example.org", "ssh://example.org"),
  ])
  func `a place is written as a URL`(_ input: String, _ url: String) throws {
    #expect(try CredentialPlace(CredentialRequest(SecretBytes(input)))?.url == url)
  }

  /// What stood in one part counted as another, so that one server's password could go to another server.
  @Test func `no part of a place counts as another`() throws {
    var accounts: [String] = []
    for (scheme, user, host, path) in [
      ("https", "a", "b", "c"), ("https", "a", "b", ""), ("https", "a@b", "c", ""),
      ("https", "a", "b@c", ""), ("https://a@b", "a", "c", ""), ("https", "a", "b:80", "c"),
      ("https", "a", "b", "80/c"), ("https", "a", "b", "/c"), ("https", "a", "", "b/c"),
      ("https", "a/b", "c", ""), ("https", "a%2Fb", "c", ""), ("https", "a", "b%2Fc", ""),
      ("https", "a", "b", "c@d"), ("https", "a", "b", "c%40d"), ("https", "a", "b", "C"),
    ] {
      var request = CredentialRequest()
      (request.scheme, request.host, request.path) = (scheme, host, path)
      accounts.append(try #require(CredentialPlace(request)).account(of: user))
    }
    #expect(Set(accounts).count == accounts.count)
  }

  @Test(arguments: ["", "\n", "protocol=https\n", "host=example.org\n", "protocol=\nhost=a\n"])
  func `without a server, there is no place`(_ input: String) throws {
    #expect(try CredentialPlace(CredentialRequest(SecretBytes(input))) == nil)
  }

  @Test func `a URL brings user and password`() throws {
    let request = try CredentialRequest(SecretBytes("url=https://an%40na:s%2Fc:t@example.org"))
    #expect(request.username == "an@na")
    #expect(request.password == SecretBytes("s/c:t"))
    let without = try CredentialRequest(
      SecretBytes("username=bob\npassword=x\nurl=https://example.org/a@b"))
    #expect(without.username == nil && without.password == nil)
    #expect(without.path == "a@b")
  }

  @Test(arguments: [
    "nonsense\n", "=value\n", "host=a\0b\n", "url=example.org\n", "url=https://a%0Ab/\n",
    "url=https://a%00b/\n", "url=https://%zz/\n", "host=a\rb\n", "username=a\r\n",
    "url=https://a%0Db/\n", "host=a/b\n", "url=https://a%2Fb/\n",
  ])
  func `what is no request is refused without being repeated`(_ input: String) {
    let error = #expect(throws: CredentialError.self) {
      try CredentialRequest(SecretBytes(input + "password=hunter2\n"))
    }
    #expect(error?.description.contains("hunter2") == false)
    #expect(error?.description.contains("nonsense") == false)
  }
}
