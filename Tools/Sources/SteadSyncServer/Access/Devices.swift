/// The devices of an account.
enum Devices {
  /// The maximum number of an account's active devices.
  static let maximumCount: Int64 = 100
  /// The maximum size of a device's name, in bytes.
  static let maximumNameLength = 100

  struct Device: Encodable, Sendable {
    var device: String
    var name: String
    var created: Int64
    var seen: Int64
    var revoked: Bool
  }

  /// The credentials that a device gets when it is enrolled.
  struct Grant: Sendable {
    var token: AccessToken
    var refresh: String
  }

  /// Enrols a device with a code. A wrong code is counted, so commit the transaction whatever the outcome.
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
    let count = try session.row(
      "SELECT COUNT(*) FROM devices WHERE account = $1 AND revoked = 0", [.text(account.text)])
    guard try count?.integer(0) ?? 0 < maximumCount else {
      return .failure(
        ServerError(
          .forbidden, "The user has too many devices.", remedy: "Revoke one at /v1/devices.",
          figures: ["limit": maximumCount]))
    }
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

  /// Ends a device's access. Its tokens are removed.
  static func revoke(_ device: String, in session: any SQLSession, now: Int64) throws {
    try session.change(
      "UPDATE devices SET revoked = $1 WHERE device = $2", [.integer(now), .text(device)])
    try session.change("DELETE FROM refresh_tokens WHERE device = $1", [.text(device)])
  }

  /// Throws unless the token's device belongs to the token's account and wasn't revoked.
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
