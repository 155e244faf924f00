#if Server
import Crypto
import Foundation
import Synchronization

/// The claims of a short-lived token: the account and the device that send a request.
struct AccessToken: Sendable, Equatable {
  /// Seconds for which a token is valid.
  static let lifetime: Int64 = 900
  /// Seconds by which the clocks of two servers may differ.
  static let leeway: Int64 = 30
  /// The maximum size of a token, in bytes.
  static let maximumLength = 2_048

  var account: String
  var device: String

  fileprivate struct Header: Codable {
    var alg: String
    var kid: String
    var typ: String?
    /// Extensions that a reader must support; this one supports none.
    var crit: [String]?
  }

  fileprivate struct Claims: Codable {
    var sub: String
    var dev: String
    var iat: Int64
    var nbf: Int64
    var exp: Int64
  }

  /// The contents of a token whose signature was checked. The token may have expired since.
  struct Signed: Sendable {
    /// The name of the key that signed it, and that key.
    let key: (name: String, bytes: Data)
    fileprivate let claims: Claims
  }

  /// Signs a token with the newest key.
  func signed(with keys: SigningKeys, clock: ServerClock) throws -> String {
    let key = try keys.newest
    let now = clock.now / 1_000
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let header = try encoder.encode(Header(alg: "EdDSA", kid: key.name, typ: "JWT"))
    let claims = try encoder.encode(
      Claims(sub: account, dev: device, iat: now, nbf: now, exp: now + Self.lifetime))
    let text = Base64URL.encode(header) + "." + Base64URL.encode(claims)
    let signature = try key.key.signature(for: Data(text.utf8))
    return text + "." + Base64URL.encode(signature)
  }

  /// Reads a token. Throws ``ServerError`` with the code `unauthorized` unless it is valid in every respect.
  init(verifying token: String, keys: SigningKeys, clock: ServerClock) throws {
    try self.init(Signed(verifying: token, keys: keys), clock: clock)
  }

  /// Throws ``ServerError`` with the code `unauthorized` unless the token is valid now.
  init(_ signed: Signed, clock: ServerClock) throws {
    try Self.check(signed.claims, now: clock.now / 1_000)
    account = signed.claims.sub
    device = signed.claims.dev
  }

  init(account: String, device: String) {
    self.account = account
    self.device = device
  }

  private static func check(_ claims: Claims, now: Int64) throws {
    guard claims.exp > now else { throw refused("has expired") }
    guard claims.nbf <= now + leeway, claims.iat <= now + leeway else {
      throw refused("isn't valid yet")
    }
    guard claims.exp <= claims.iat + lifetime else { throw refused("is valid for too long") }
    guard !claims.sub.isEmpty, !claims.dev.isEmpty else { throw refused("names nobody") }
  }

  fileprivate static func refused(_ reason: String) -> ServerError {
    ServerError(
      .unauthorized, "The access token \(reason).",
      remedy: "Fetch a new one with the refresh token at /v1/token.")
  }
}

extension AccessToken.Signed {
  /// Checks a token's signature. Throws ``ServerError`` with the code `unauthorized`.
  init(verifying token: String, keys: SigningKeys) throws {
    guard token.utf8.count <= AccessToken.maximumLength else { throw Self.refused("is too long") }
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let headerBytes = Base64URL.decode(parts[0]),
      let claimBytes = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2]),
      let header = try? JSONDecoder().decode(AccessToken.Header.self, from: Data(headerBytes))
    else { throw Self.refused("isn't a signed token") }
    // Checked before any key is used: the token must never choose how it is verified.
    guard header.alg == "EdDSA", header.crit == nil, header.typ == nil || header.typ == "JWT" else {
      throw Self.refused("isn't signed with EdDSA")
    }
    guard let key = keys.publicKey(named: header.kid) else {
      throw Self.refused("is signed with a key that this server doesn't have")
    }
    guard signature.count == 64,
      key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
    else { throw Self.refused("has a wrong signature") }
    guard
      let claims = try? JSONDecoder().decode(AccessToken.Claims.self, from: Data(claimBytes))
    else { throw Self.refused("lacks a claim") }
    self.init(key: (header.kid, key.rawRepresentation), claims: claims)
  }

  private static func refused(_ reason: String) -> ServerError { AccessToken.refused(reason) }
}

/// Tokens whose signatures were checked, so that all requests with one token cost one check.
///
/// Holds digests instead of tokens. Each use checks the token's times again, and that its key still verifies.
final class VerifiedTokens: Sendable {
  /// The maximum number of tokens: some 3 MB.
  static let maximumCount = 10_000

  private let keys: SigningKeys
  private let clock: ServerClock
  private let limit: Int
  private let known = Mutex<[SHA256Digest: AccessToken.Signed]>([:])

  init(keys: SigningKeys, clock: ServerClock, limit: Int = maximumCount) {
    self.keys = keys
    self.clock = clock
    self.limit = limit
  }

  var count: Int { known.withLock { $0.count } }

  /// Reads a token. Throws ``ServerError`` with the code `unauthorized` unless it is valid in every respect.
  func token(_ text: String) throws -> AccessToken {
    // A token that is too long is refused before it is hashed.
    guard text.utf8.count <= AccessToken.maximumLength else {
      return try AccessToken(verifying: text, keys: keys, clock: clock)
    }
    let digest = SHA256.hash(data: Data(text.utf8))
    if let signed = known.withLock({ $0[digest] }),
      keys.publicKey(named: signed.key.name)?.rawRepresentation == signed.key.bytes
    {
      return try AccessToken(signed, clock: clock)
    }
    let signed = try AccessToken.Signed(verifying: text, keys: keys)
    let token = try AccessToken(signed, clock: clock)
    known.withLock { known in
      if known.count >= limit { prune(&known) }
      known[digest] = signed
    }
    return token
  }

  /// Drops the tokens that have expired; all of them, if none has.
  private func prune(_ known: inout [SHA256Digest: AccessToken.Signed]) {
    known = known.filter { (try? AccessToken($0.value, clock: clock)) != nil }
    if known.count >= limit { known.removeAll(keepingCapacity: true) }
  }
}
#endif
