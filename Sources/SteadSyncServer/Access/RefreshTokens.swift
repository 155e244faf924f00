#if Server
import Crypto
import SteadSQLite

/// Long-lived tokens. Each is used once, and exchanged for its successor.
///
/// A device holds a chain of them. The last token used may be used again until one of its successors is used, because
/// the answer with the successor may have been lost. Each use makes a successor, and the first successor that is used
/// continues the chain: a late request's answer may be the one that was lost. Any other second use means that two
/// parties hold the chain, and the device is revoked.
///
/// Within ``leeway`` of the last renewal, a second use is refused without revoking the device: the request may be late
/// by several renewals. A sender that still waits for the answer is asked to send the request again. If it does, the
/// device is revoked.
enum RefreshTokens {
  /// How long a token is valid, in milliseconds.
  static let lifetime: Int64 = 90 * 24 * 3_600 * 1_000

  /// How long after a renewal a second use of an older token may be a late request, in milliseconds.
  static let leeway: Int64 = 60 * 1_000

  enum Outcome: Sendable {
    case renewed(AccessToken, refresh: String)
    case refused(ServerError)
  }

  /// Makes a token whose predecessor has the given hash, or a device's first token.
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

  /// Exchanges a token. Commit the transaction whatever the outcome.
  static func renew(_ token: String, in session: any SQLSession, now: Int64) throws -> Outcome {
    let hash = Secret.hash(token)
    guard
      let row = try session.row(
        """
        SELECT t.device, t.parent, t.expires, d.account, d.revoked, d.redeemed, d.seen
        FROM refresh_tokens t JOIN devices d ON d.device = t.device WHERE t.hash = $1
        """, [.bytes(hash)])
    else { return .refused(unknown) }
    let device = try row.text(0)
    guard try row.integer(4) == 0 else { return .refused(revoked) }
    guard try row.integer(2) > now else { return .refused(expired) }
    let redeemed = try row.optionalBytes(5)
    let isNext = try row.optionalBytes(1) == redeemed
    guard isNext || redeemed == hash else {
      let rest = try row.integer(6) + leeway - now
      guard rest <= 0 else { return .refused(late(by: rest)) }
      try Devices.revoke(device, in: session, now: now)
      return .refused(reused)
    }
    try session.change(
      "UPDATE devices SET redeemed = $1, seen = $2 WHERE device = $3",
      [.bytes(hash), .integer(now), .text(device)])
    try session.change(
      "DELETE FROM refresh_tokens WHERE device = $1 AND expires <= $2",
      [.text(device), .integer(now)])
    let next = try make(for: device, parent: hash, in: session, now: now)
    return .renewed(AccessToken(account: try row.text(3), device: device), refresh: next)
  }

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

  /// 256 random bits, for programs.
  static func token() -> String {
    Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// 60 random bits, for people: `7Q2M-K0XV-93TB`.
  static func code() -> String {
    (0..<3).map { _ in String((0..<4).map { _ in alphabet[Int.random(in: 0..<32)] }) }
      .joined(separator: "-")
  }

  /// The canonical form of a code that a person typed, whatever its case and hyphens.
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

  static func hash(_ secret: String) -> [UInt8] { Array(SHA256.hash(data: Array(secret.utf8))) }

  /// Whether two hashes are equal, in a time that doesn't depend on where they differ.
  static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(left, right) { difference |= a ^ b }
    return difference == 0
  }

  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
#endif
