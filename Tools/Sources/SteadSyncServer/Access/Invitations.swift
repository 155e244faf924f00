/// One-time codes that enrol a device.
enum Invitations {
  /// How long a code is valid, in milliseconds.
  static let lifetime: Int64 = 15 * 60 * 1_000
  /// The number of wrong codes after which all codes of an account are void.
  static let maximumTries: Int64 = 5
  /// The maximum number of an account's valid codes; a new code replaces the oldest.
  static let maximumCodes = 5

  /// Makes a code, and the account if it doesn't exist. The database holds only the code's hash.
  static func make(_ account: AccountName, in session: any SQLSession, now: Int64) throws -> String
  {
    let code = Secret.code()
    try session.change(
      "INSERT INTO accounts (account, created) VALUES ($1, $2) ON CONFLICT (account) DO NOTHING",
      [.text(account.text), .integer(now)])
    try removeExpired(account, in: session, now: now)
    let codes = try session.rows(
      "SELECT hash FROM invitations WHERE account = $1 ORDER BY expires", [.text(account.text)])
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
  static func redeem(
    _ code: String, of account: AccountName, in session: any SQLSession, now: Int64
  ) throws -> Bool {
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
    try session.change(
      "DELETE FROM invitations WHERE account = $1 AND hash = $2",
      [.text(account.text), .bytes(found)])
    return true
  }

  private static func countFailure(_ account: AccountName, in session: any SQLSession) throws {
    try session.change(
      "UPDATE invitations SET tries = tries + 1 WHERE account = $1", [.text(account.text)])
    try session.change(
      "DELETE FROM invitations WHERE account = $1 AND tries >= $2",
      [.text(account.text), .integer(maximumTries)])
  }

  private static func removeExpired(
    _ account: AccountName, in session: any SQLSession, now: Int64
  ) throws {
    try session.change(
      "DELETE FROM invitations WHERE account = $1 AND expires <= $2",
      [.text(account.text), .integer(now)])
  }
}
