#if Server
import SteadSQLite

/// The devices of an account, in the tables `devices` and `refresh_tokens`.
///
/// All functions run in the caller's transaction on the thread of its connection.
enum Devices {
  /// The maximum number of an account's active devices.
  static let maximumCount: Int64 = 100
  /// The maximum size of a device's name, in bytes.
  static let maximumNameLength = 100

  /// A device as the list of devices shows it, with times in milliseconds since 1970.
  struct Device: Encodable, Sendable {
    /// The identifier that the server has drawn; part of each stamp.
    var device: String
    /// The name that its user gave it; may be empty.
    var name: String
    var created: Int64
    /// When it was enrolled, or has last renewed its tokens.
    var seen: Int64
    var revoked: Bool
  }

  /// The credentials that a device gets when it is enrolled.
  struct Grant: Sendable {
    /// The account and the device, to be signed as an access token.
    var token: AccessToken
    /// The first refresh token, of which the database has only the hash.
    var refresh: String
  }

  /// Enrols a device with a code, and makes its first tokens.
  ///
  /// A wrong code is counted, so commit the transaction whatever the outcome: the failure is a value because a thrown
  /// error would roll the count back. A right code is used up even if the account has ``maximumCount`` devices
  /// already.
  ///
  /// - Returns: The tokens; or `unauthorized` for a code that isn't valid, and `forbidden` beyond ``maximumCount``.
  static func enrol(
    _ account: AccountName, code: String, name: String, in session: any SQLSession, now: Int64
  ) throws -> Result<Grant, ServerError> {
    guard try Invitations.redeem(code, of: account, in: session, now: now) else {
      // The same answer whether the account or the code is wrong.
      return .failure(
        ServerError(
          .unauthorized, "The code isn't valid for this user.",
          remedy: "Make a new one with `stead serve invite`; a code works once, for 15 minutes."))
    }
    // Counted in the transaction that inserts. Enrolments of one account share a lane, so with one server none of
    // them can pass the limit together.
    let count = try session.row(
      "SELECT COUNT(*) FROM devices WHERE account = $1 AND revoked = 0", [.text(account.text)])
    guard try count?.integer(0) ?? 0 < maximumCount else {
      return .failure(
        ServerError(
          .forbidden, "The user has too many devices.", remedy: "Revoke one at /v1/devices.",
          figures: ["limit": maximumCount]))
    }
    // The server draws it, so that no device can take another one's name.
    let device = Secret.identifier()
    try session.change(
      """
      INSERT INTO devices (device, account, name, created, seen, revoked)
      VALUES ($1, $2, $3, $4, $5, 0)
      """,
      [
        .text(device), .text(account.text), .text(name), .integer(now), .integer(now),
      ])
    let refresh = try RefreshTokens.make(for: device, parent: nil, in: session, now: now)
    return .success(
      Grant(token: AccessToken(account: account.text, device: device), refresh: refresh))
  }

  /// The devices of an account in the order of their enrolment, with those that were revoked.
  static func list(of account: String, in session: any SQLSession) throws -> [Device] {
    try session.rows(
      """
      SELECT device, name, created, seen, revoked FROM devices WHERE account = $1
      ORDER BY created, device
      """, [.text(account)]
    ).map { row in
      try Device(
        device: row.text(0), name: row.text(1), created: row.integer(2), seen: row.integer(3),
        revoked: row.integer(4) != 0)
    }
  }

  /// Ends a device's access: its refresh tokens are removed, and ``check(_:in:)`` refuses its access tokens from the
  /// commit on. The row stays, so that the list shows when it happened.
  static func revoke(_ device: String, in session: any SQLSession, now: Int64) throws {
    try session.change(
      "UPDATE devices SET revoked = $1 WHERE device = $2", [.integer(now), .text(device)])
    try session.change("DELETE FROM refresh_tokens WHERE device = $1", [.text(device)])
  }

  /// Throws ``ServerError`` with the code `unauthorized` unless the token's device belongs to the token's account and
  /// wasn't revoked. Costs one lookup by primary key.
  static func check(_ token: AccessToken, in session: any SQLSession) throws {
    let row = try session.row(
      "SELECT account, revoked FROM devices WHERE device = $1", [.text(token.device)])
    guard let row, try row.text(0) == token.account, try row.integer(1) == 0 else {
      throw ServerError(
        .unauthorized, "The device was revoked, or isn't the user's.",
        remedy: "Enrol the device again with a new code.")
    }
  }
}

/// The name of a user: 1 to 64 lower-case letters, digits and `.`, `_`, `-`, `@`.
package struct AccountName: Hashable, Sendable {
  package let text: String

  /// Nil if the string isn't a name.
  package init?(_ text: String) {
    // Few characters, since the name is a part of addresses.
    let isValid = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"):
        true
      default: false
      }
    }
    guard isValid, (1...64).contains(text.utf8.count) else { return nil }
    self.text = text
  }
}

/// One-time codes that enrol a device, in the table `invitations`.
///
/// A code has 60 random bits, few enough to type. So guessing is limited twice: by ``maximumTries`` for an account,
/// and by the rate limit for an address.
enum Invitations {
  /// How long a code is valid, in milliseconds.
  static let lifetime: Int64 = 15 * 60 * 1_000
  /// The number of wrong codes after which all codes of an account are void.
  static let maximumTries: Int64 = 5
  /// The maximum number of an account's valid codes; a new code replaces the oldest.
  static let maximumCodes = 5

  /// Makes a code, and the account if it doesn't exist. The database holds only the code's hash, so it can't be shown
  /// again. Beyond ``maximumCodes`` the oldest code goes.
  static func make(_ account: AccountName, in session: any SQLSession, now: Int64) throws -> String
  {
    let code = Secret.code()
    try session.change(
      "INSERT INTO accounts (account, created) VALUES ($1, $2) ON CONFLICT (account) DO NOTHING",
      [.text(account.text), .integer(now)])
    try removeExpired(account, in: session, now: now)
    // The order of expiry is that in which they were made, since all live equally long.
    let codes = try session.rows(
      "SELECT hash FROM invitations WHERE account = $1 ORDER BY expires", [.text(account.text)])
    // One fewer than the maximum stays, since the new code follows.
    for row in codes.dropLast(maximumCodes - 1) {
      try session.change(
        "DELETE FROM invitations WHERE account = $1 AND hash = $2",
        [.text(account.text), row.values[0]])
    }
    try session.change(
      "INSERT INTO invitations (account, hash, expires, tries) VALUES ($1, $2, $3, 0)",
      [
        .text(account.text), .bytes(Secret.hash(Secret.normalized(code: code))),
        .integer(now + lifetime),
      ])
    return code
  }

  /// Uses a code. Returns false if it isn't valid, and counts that: commit the transaction either way.
  ///
  /// After ``maximumTries`` wrong codes all codes of the account are void, the right one too. Codes that are made
  /// later start with no wrong attempts.
  static func redeem(
    _ code: String, of account: AccountName, in session: any SQLSession, now: Int64
  ) throws -> Bool {
    // First, so that an expired code counts as a wrong one.
    try removeExpired(account, in: session, now: now)
    let hash = Secret.hash(Secret.normalized(code: code))
    let codes = try session.rows(
      "SELECT hash FROM invitations WHERE account = $1", [.text(account.text)])
    // All are compared, so that the time doesn't reveal which one is right.
    let matching = try codes.map { try $0.bytes(0) }.filter { Secret.equal($0, hash) }
    guard let found = matching.first else {
      try countFailure(account, in: session)
      return false
    }
    // In the transaction that has checked it, so that no two enrolments use one code.
    try session.change(
      "DELETE FROM invitations WHERE account = $1 AND hash = $2",
      [.text(account.text), .bytes(found)])
    return true
  }

  /// Counts a wrong attempt for each code of the account, since nobody knows which one was meant.
  private static func countFailure(_ account: AccountName, in session: any SQLSession) throws {
    try session.change(
      "UPDATE invitations SET tries = tries + 1 WHERE account = $1", [.text(account.text)])
    try session.change(
      "DELETE FROM invitations WHERE account = $1 AND tries >= $2",
      [.text(account.text), .integer(maximumTries)])
  }

  /// Removes the codes of an account that are no longer valid.
  private static func removeExpired(
    _ account: AccountName, in session: any SQLSession, now: Int64
  ) throws {
    try session.change(
      "DELETE FROM invitations WHERE account = $1 AND expires <= $2",
      [.text(account.text), .integer(now)])
  }
}
#endif
