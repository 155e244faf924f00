#if Server
import Crypto
import Foundation
import SteadTestSupport
import Testing
@testable import SteadSyncServer

@Suite struct AccessTokenTests {
  private let directory: TemporaryDirectory
  private let time = TestClock()
  private let keys: SigningKeys
  private let tokens: VerifiedTokens
  private let token = AccessToken(account: "anna", device: "d1")

  init() throws {
    directory = try TemporaryDirectory()
    keys = try SigningKeys(directory: directory.path, clock: time.clock)
    tokens = VerifiedTokens(keys: keys, clock: time.clock)
  }

  /// The same whether the token was seen before or not.
  private func verify(_ text: String) throws -> AccessToken {
    let unseen = Result { try AccessToken(verifying: text, keys: keys, clock: time.clock) }
    for _ in 0..<2 {
      let seen = Result { try tokens.token(text) }
      #expect("\(seen)" == "\(unseen)")
    }
    return try unseen.get()
  }

  private func signed() throws -> String { try token.signed(with: keys, clock: time.clock) }

  /// A token with a right signature over any header and claims.
  private func forged(
    header: String? = nil, claims: String? = nil, sign: (Data) throws -> Data
  ) throws -> String {
    let parts = try signed().split(separator: ".")
    let first = header.map { Base64URL.encode($0.utf8) } ?? String(parts[0])
    let second = claims.map { Base64URL.encode($0.utf8) } ?? String(parts[1])
    let signature = try sign(Data("\(first).\(second)".utf8))
    return "\(first).\(second).\(Base64URL.encode(signature))"
  }

  private func refusal(of text: String) -> String? {
    do {
      _ = try verify(text)
      return nil
    } catch let error as ServerError {
      return error.code == .unauthorized ? error.message : "another code"
    } catch {
      return "another error"
    }
  }

  @Test func `a token names its account and device`() throws {
    #expect(try verify(signed()) == token)
  }

  @Test func `an expired token is refused`() throws {
    let text = try signed()
    time.advance(seconds: AccessToken.lifetime - 1)
    #expect(refusal(of: text) == nil)
    time.advance(seconds: 1)
    #expect(refusal(of: text) == "The access token has expired.")
  }

  @Test func `a token from the future is refused`() throws {
    time.advance(seconds: 3_600)
    let text = try signed()
    time.advance(seconds: -3_600)
    #expect(refusal(of: text) == "The access token isn't valid yet.")
  }

  @Test(arguments: ["none", "None", "", "HS256", "ES256", "eddsa"])
  func `another algorithm is refused with a right signature`(algorithm: String) throws {
    let key = try keys.newest
    let header = #"{"alg":"\#(algorithm)","kid":"\#(key.name)","typ":"JWT"}"#
    let text = try forged(header: header) { try key.key.signature(for: $0) }
    #expect(refusal(of: text) == "The access token isn't signed with EdDSA.")
  }

  @Test func `a token without a signature is refused`() throws {
    let text = try signed()
    let end = try #require(text.lastIndex(of: "."))
    #expect(refusal(of: String(text[...end])) == "The access token has a wrong signature.")
    #expect(refusal(of: String(text[..<end])) == "The access token isn't a signed token.")
  }

  @Test func `the public key is no secret of HS256`() throws {
    let key = try keys.newest
    let secret = SymmetricKey(data: key.key.publicKey.rawRepresentation)
    let header = #"{"alg":"HS256","kid":"\#(key.name)"}"#
    let text = try forged(header: header) {
      Data(HMAC<SHA256>.authenticationCode(for: $0, using: secret))
    }
    #expect(refusal(of: text) == "The access token isn't signed with EdDSA.")
  }

  @Test func `a cut signature is refused`() throws {
    let text = try signed()
    for count in [1, 2, 20, 85] {
      #expect(refusal(of: String(text.dropLast(count))) != nil)
    }
  }

  @Test func `an unknown key is refused`() throws {
    let stranger = Curve25519.Signing.PrivateKey()
    let header = #"{"alg":"EdDSA","kid":"\#(Secret.identifier())"}"#
    let text = try forged(header: header) { try stranger.signature(for: $0) }
    #expect(
      refusal(of: text) == "The access token is signed with a key that this server doesn't have.")
  }

  @Test func `a stranger's signature under a known name is refused`() throws {
    let stranger = Curve25519.Signing.PrivateKey()
    let text = try forged { try stranger.signature(for: $0) }
    #expect(refusal(of: text) == "The access token has a wrong signature.")
  }

  @Test func `changed claims are refused`() throws {
    let parts = try signed().split(separator: ".")
    let claims = try #require(Base64URL.decode(parts[1]))
    let changed = String(decoding: claims, as: UTF8.self).replacingOccurrences(
      of: "anna", with: "bert")
    let text = "\(parts[0]).\(Base64URL.encode(changed.utf8)).\(parts[2])"
    #expect(refusal(of: text) == "The access token has a wrong signature.")
  }

  @Test(arguments: ["sub", "dev", "iat", "nbf", "exp"])
  func `a missing claim is refused`(name: String) throws {
    let now = time.clock.now / 1_000
    var claims = [
      "sub": "\"anna\"", "dev": "\"d1\"", "iat": "\(now)", "nbf": "\(now)", "exp": "\(now + 60)",
    ]
    claims[name] = nil
    let text = "{" + claims.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    let key = try keys.newest
    #expect(
      refusal(of: try forged(claims: text) { try key.key.signature(for: $0) })
        == "The access token lacks a claim.")
  }

  @Test func `a token for too long is refused`() throws {
    let now = time.clock.now / 1_000
    let key = try keys.newest
    let claims = #"{"sub":"anna","dev":"d1","iat":\#(now),"nbf":\#(now),"exp":\#(now + 86_400)}"#
    #expect(
      refusal(of: try forged(claims: claims) { try key.key.signature(for: $0) })
        == "The access token is valid for too long.")
  }

  @Test func `another spelling of the same bytes is refused`() throws {
    // 64 bytes leave four unused bits in the last character.
    let text = try signed()
    let last = try #require(text.last)
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let index = try #require(alphabet.firstIndex(of: last))
    let other = alphabet[index ^ 1]
    #expect(
      refusal(of: text.dropLast() + String(other)) == "The access token isn't a signed token.")
    #expect(refusal(of: text + "==") == "The access token isn't a signed token.")
  }

  @Test func `the keys are their owner's alone`() throws {
    let path = directory.path + "/signing-keys.json"
    let mode =
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
    #expect(mode?.intValue == 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    #expect(throws: ServerError.self) {
      try SigningKeys(directory: directory.path, clock: time.clock)
    }
  }

  @Test func `a superseded key verifies for an hour`() throws {
    let first = try keys.newest.name
    try keys.rotate(clock: time.clock)
    #expect(try keys.newest.name != first)
    time.advance(seconds: 3_599)
    try keys.rotate(clock: time.clock)
    #expect(keys.publicKey(named: first) != nil)
    time.advance(seconds: 1)
    try keys.rotate(clock: time.clock)
    #expect(keys.publicKey(named: first) == nil)
  }

  @Test func `the keys are the same after a restart`() throws {
    let text = try signed()
    let again = try SigningKeys(directory: directory.path, clock: time.clock)
    #expect(try AccessToken(verifying: text, keys: again, clock: time.clock) == token)
  }
}
#endif
