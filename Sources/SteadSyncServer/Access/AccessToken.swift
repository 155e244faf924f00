#if Server
import Crypto
import Foundation
import SteadSQLite
import Synchronization

/// The claims of a short-lived token: the account and the device that send a request.
///
/// The format is a JSON Web Token (RFC 7519) with the compact serialization of RFC 7515: header, claims and signature
/// in base64url, with dots between them. The signature is Ed25519, whose name in the header is `EdDSA` (RFC 8037).
///
/// A token proves only who sends a request. Whether the device was revoked, and which role it has, is looked up with
/// each request (``Membership/check(_:zone:atLeast:in:)``), so both take effect before the token expires.
struct AccessToken: Sendable, Equatable {
  /// Seconds for which a token is valid.
  static let lifetime: Int64 = 900
  /// Seconds by which the clocks of two servers may differ.
  static let leeway: Int64 = 30
  /// The maximum size of a token, in bytes.
  static let maximumLength = 2_048

  /// The account's name: `sub` in the claims.
  var account: String
  /// The device: `dev` in the claims.
  var device: String

  /// The JOSE header of RFC 7515, section 4.1.
  fileprivate struct Header: Codable {
    var alg: String
    var kid: String
    var typ: String?
    /// Extensions that a reader must support; this one supports none.
    var crit: [String]?
  }

  /// The claims of RFC 7519, section 4.1, in seconds since 1970, and `dev` for the device.
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

  /// Signs a token with the newest key, valid from now for ``lifetime``.
  ///
  /// - Throws: ``ServerError`` with the code `failed` if the server has no key.
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

  /// Reads a token: checks the signature and the times. Costs one Ed25519 verification; ``VerifiedTokens`` saves it
  /// for tokens that it knows.
  ///
  /// - Throws: ``ServerError`` with the code `unauthorized` unless the token is valid in every respect.
  init(verifying token: String, keys: SigningKeys, clock: ServerClock) throws {
    try self.init(Signed(verifying: token, keys: keys), clock: clock)
  }

  /// Throws ``ServerError`` with the code `unauthorized` unless the token is valid now.
  init(_ signed: Signed, clock: ServerClock) throws {
    try Self.check(signed.claims, now: clock.now / 1_000)
    account = signed.claims.sub
    device = signed.claims.dev
  }

  /// Names an account and a device, for a token that is going to be signed.
  init(account: String, device: String) {
    self.account = account
    self.device = device
  }

  /// Checks the times and the names.
  ///
  /// `leeway` applies to the beginning of a token and not to its end: a server whose clock is behind must accept a
  /// token that another one has just made, but none may live longer than ``lifetime``.
  private static func check(_ claims: Claims, now: Int64) throws {
    guard claims.exp > now else { throw refused("has expired") }
    guard claims.nbf <= now + leeway, claims.iat <= now + leeway else {
      throw refused("isn't valid yet")
    }
    // The server makes no such token. Without the check, whoever has had a key once could keep a token that is valid
    // for as long as the key is.
    guard claims.exp <= claims.iat + lifetime else { throw refused("is valid for too long") }
    guard !claims.sub.isEmpty, !claims.dev.isEmpty else { throw refused("names nobody") }
  }

  /// The error for a token that isn't valid; the reason never quotes it.
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
    // Empty parts are kept: otherwise `.a.b.c` would be a second spelling of `a.b.c`.
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let headerBytes = Base64URL.decode(parts[0]),
      let claimBytes = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2]),
      let header = try? JSONDecoder().decode(AccessToken.Header.self, from: Data(headerBytes))
    else { throw Self.refused("isn't a signed token") }
    // Checked before any key is used. A token must never choose how it is verified: `alg` `none`, or an HMAC whose
    // secret is the public key, would forge one. `crit` names extensions that a reader has to understand or refuse
    // (RFC 7515, section 4.1.11).
    guard header.alg == "EdDSA", header.crit == nil, header.typ == nil || header.typ == "JWT" else {
      throw Self.refused("isn't signed with EdDSA")
    }
    guard let key = keys.publicKey(named: header.kid) else {
      throw Self.refused("is signed with a key that this server doesn't have")
    }
    // Over the text as it was received, never over claims that were encoded again.
    guard signature.count == 64,
      key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
    else { throw Self.refused("has a wrong signature") }
    // After the signature: nothing is decided by claims before it is known who wrote them.
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
  /// The number of tokens from which the expired ones are dropped.
  private let limit: Int
  private let known = Mutex<[SHA256Digest: AccessToken.Signed]>([:])

  init(keys: SigningKeys, clock: ServerClock, limit: Int = maximumCount) {
    self.keys = keys
    self.clock = clock
    self.limit = limit
  }

  /// The number of tokens that are held.
  var count: Int { known.withLock { $0.count } }

  /// Reads a token. Thread-safe; costs one SHA-256 for a known token, and one Ed25519 verification for another one.
  ///
  /// - Throws: ``ServerError`` with the code `unauthorized` unless the token is valid in every respect.
  func token(_ text: String) throws -> AccessToken {
    // Such a token is refused before it is hashed, since the hash would cost time in proportion to what a stranger
    // sent.
    guard text.utf8.count <= AccessToken.maximumLength else {
      return try AccessToken(verifying: text, keys: keys, clock: clock)
    }
    let digest = SHA256.hash(data: Data(text.utf8))
    // The key is compared by its bytes, not by its name: a restored or replaced file may have another key of that
    // name.
    if let signed = known.withLock({ $0[digest] }),
      keys.publicKey(named: signed.key.name)?.rawRepresentation == signed.key.bytes
    {
      return try AccessToken(signed, clock: clock)
    }
    // Outside the lock: two threads may verify one token twice, but none waits for another's verification.
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
    // Emptied rather than grown: each token then costs one verification again.
    if known.count >= limit { known.removeAll(keepingCapacity: true) }
  }
}

// MARK: - Refresh tokens

/// Long-lived tokens. Each is used once, and exchanged for its successor (refresh token rotation, RFC 9700, section
/// 4.14.2).
///
/// A device holds a chain of them. The last token used may be used again until one of its successors is used, because
/// the answer with the successor may have been lost. Each use makes a successor, and the first successor that is used
/// continues the chain: a late request's answer may be the one that was lost. Any other second use means that two
/// parties hold the chain, and the device is revoked.
///
/// Within ``leeway`` of the last renewal, a second use is refused without revoking the device: the request may be
/// late by several renewals. A sender that still waits for the answer is asked to send the request again. If it does,
/// the device is revoked.
///
/// The chain is stored as `parent` of each token, the hash of the token that it was exchanged for, and as `redeemed`
/// of the device, the hash of the last token used. Only hashes are stored, so a copy of the database gives no access.
enum RefreshTokens {
  /// How long a token is valid, in milliseconds.
  static let lifetime: Int64 = 90 * 24 * 3_600 * 1_000

  /// How long after a renewal a second use of an older token may be a late request, in milliseconds.
  static let leeway: Int64 = 60 * 1_000

  /// The result of a renewal, to be returned after the commit.
  enum Outcome: Sendable {
    case renewed(AccessToken, refresh: String)
    case refused(ServerError)
  }

  /// Makes a token whose predecessor has the given hash, or with nil a device's first token. Only its hash is stored.
  static func make(
    for device: String, parent: [UInt8]?, in session: any SQLSession, now: Int64
  ) throws -> String {
    let token = Secret.token()
    try session.change(
      """
      INSERT INTO refresh_tokens (hash, device, parent, expires) VALUES ($1, $2, $3, $4)
      """,
      [
        .bytes(Secret.hash(token)), .text(device), parent.map(SQLValue.bytes) ?? .null,
        .integer(now + lifetime),
      ])
    return token
  }

  /// Exchanges a token for an access token and the next refresh token.
  ///
  /// Commit the transaction whatever the outcome: a refusal may have revoked the device, and a rollback would undo
  /// that. For the same reason a refusal is a value and not an error, which would roll back.
  ///
  /// Invariant: afterwards `redeemed` is the hash of the last token that was exchanged, and the only valid tokens of
  /// the device are that one and its successors. Others stay in the table until they expire, so that a second use is
  /// recognised as one and isn't mistaken for an unknown token.
  static func renew(_ token: String, in session: any SQLSession, now: Int64) throws -> Outcome {
    // The look-up is by the hash, so its duration says nothing about valid tokens.
    let hash = Secret.hash(token)
    guard
      let row = try session.row(
        """
        SELECT t.device, t.parent, t.expires, d.account, d.revoked, d.redeemed, d.seen
        FROM refresh_tokens t JOIN devices d ON d.device = t.device WHERE t.hash = $1
        """, [.bytes(hash)])
    else { return .refused(unknown) }
    let device = try row.text(0)
    // Before the expiry: a device that was revoked learns that, however old its token is.
    guard try row.integer(4) == 0 else { return .refused(revoked) }
    guard try row.integer(2) > now else { return .refused(expired) }
    let redeemed = try row.optionalBytes(5)
    // A first token has no parent, and `redeemed` is null until one is used: two nulls match.
    let isNext = try row.optionalBytes(1) == redeemed
    guard isNext || redeemed == hash else {
      // The time of the last renewal plus the leeway.
      let rest = try row.integer(6) + leeway - now
      guard rest <= 0 else { return .refused(late(by: rest)) }
      // Nobody can tell the owner of the chain from the thief, so neither goes on.
      try Devices.revoke(device, in: session, now: now)
      return .refused(reused)
    }
    // Other successors of the former token are no longer next from now on.
    try session.change(
      "UPDATE devices SET redeemed = $1, seen = $2 WHERE device = $3",
      [.bytes(hash), .integer(now), .text(device)])
    try session.change(
      "DELETE FROM refresh_tokens WHERE device = $1 AND expires <= $2",
      [.text(device), .integer(now)])
    let next = try make(for: device, parent: hash, in: session, now: now)
    return .renewed(AccessToken(account: try row.text(3), device: device), refresh: next)
  }

  /// The error for a token that may be late, with the rest of the leeway as the pause.
  private static func late(by rest: Int64) -> ServerError {
    ServerError(
      .tooMany, "The refresh token was used already, and its successor as well.",
      remedy: "Send the request again later.", retryAfter: Int((rest + 999) / 1_000))
  }

  private static let remedy = "Enrol the device again with a new code."
  private static let unknown = ServerError(
    .unauthorized, "The refresh token is unknown.", remedy: remedy)
  private static let expired = ServerError(
    .unauthorized, "The refresh token has expired.", remedy: remedy)
  private static let revoked = ServerError(
    .unauthorized, "The device was revoked.", remedy: remedy)
  private static let reused = ServerError(
    .unauthorized, "The refresh token was used twice, so the device was revoked.", remedy: remedy)
}

/// Random values that give access, and the hashes of them that the database holds.
enum Secret {
  /// Letters and digits that people don't confuse: Crockford's base 32.
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

  /// 256 random bits in base64url, for programs. `UInt8.random` draws from the system's generator.
  static func token() -> String {
    Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// 60 random bits, for people: `7Q2M-K0XV-93TB`.
  static func code() -> String {
    (0..<3).map { _ in String((0..<4).map { _ in alphabet[Int.random(in: 0..<32)] }) }
      .joined(separator: "-")
  }

  /// The canonical form of a code that a person typed: in upper case, without hyphens and spaces, and with the
  /// letters O, I and L as the digits that they were read for (Crockford's base 32).
  static func normalized(code: String) -> String {
    String(
      code.uppercased().filter { $0 != "-" && $0 != " " }.map { character in
        switch character {
        case "O": "0"
        case "I", "L": "1"
        default: character
        }
      })
  }

  /// An identifier of 128 random bits, in hexadecimal digits.
  static func identifier() -> String {
    hexadecimal((0..<16).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// The SHA-256 of a secret. It is neither salted nor slow: a token has 256 random bits, and a code of 60 bits is
  /// void after five wrong attempts or 15 minutes.
  static func hash(_ secret: String) -> [UInt8] { Array(SHA256.hash(data: Array(secret.utf8))) }

  /// Whether two hashes are equal, in a time that doesn't depend on where they differ.
  static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(left, right) { difference |= a ^ b }
    return difference == 0
  }

  /// Bytes as lower-case hexadecimal digits, two for each.
  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
#endif
