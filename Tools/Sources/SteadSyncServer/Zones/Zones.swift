/// The zones of accounts.
enum Zones {
  /// The maximum number of zones that an account may own.
  static let maximumOwned: Int64 = 1_000

  struct Zone: Encodable, Sendable {
    var zone: String
    var role: Role
    var owner: String
    var head: Int64
    var bytes: Int64
  }

  /// Makes a zone that belongs to the token's account; nothing happens if it already does.
  static func make(_ zone: String, for token: AccessToken, in session: any SQLSession, now: Int64)
    throws
  {
    try Devices.check(token, in: session)
    if try session.row("SELECT zone FROM zones WHERE zone = $1", [.text(zone)]) != nil {
      return try Membership.check(token, zone: zone, atLeast: .owner, in: session)
    }
    let owned = try session.row(
      "SELECT COUNT(*) FROM zones WHERE owner = $1", [.text(token.account)])
    guard try owned?.integer(0) ?? 0 < maximumOwned else {
      throw ServerError(
        .quota, "The user owns too many zones.", remedy: "Delete one.",
        figures: ["limit": maximumOwned])
    }
    try session.change(
      """
      INSERT INTO zones (
        zone, owner, head, token, min_seq, min_schema, bytes, blob_bytes, live, time, clock, seen,
        rules, created)
      VALUES ($1, $2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $3, $4)
      """, [.text(zone), .text(token.account), .bytes([]), .integer(now)])
    try Membership.insert(.owner, for: token.account, zone: zone, in: session)
  }

  static func list(of account: String, in session: any SQLSession) throws -> [Zone] {
    try session.rows(
      """
      SELECT z.zone, m.role, z.owner, z.head, z.bytes + z.blob_bytes
      FROM account_zones a JOIN zones z ON z.zone = a.zone
      JOIN members m ON m.zone = a.zone AND m.account = a.account
      WHERE a.account = $1 ORDER BY z.zone
      """, [.text(account)]
    ).map { row in
      try Zone(
        zone: row.text(0), role: Role(rawValue: row.text(1)) ?? .read, owner: row.text(2),
        head: row.integer(3), bytes: row.integer(4))
    }
  }

  /// Removes a zone with everything in it.
  static func delete(_ zone: String, in session: any SQLSession) throws {
    for table in Tables.ofZones {
      try session.change("DELETE FROM \(table) WHERE zone = $1", [.text(zone)])
    }
  }

  /// The heads of zones, for requests that wait. Zones that don't exist are absent.
  static func heads(_ zones: [String], in session: any SQLSession) throws -> [String: Int64] {
    var heads: [String: Int64] = [:]
    for start in stride(from: 0, to: zones.count, by: headsAtOnce) {
      let part = Array(zones[start..<min(start + headsAtOnce, zones.count)])
      // One string for all sizes, so that one statement is prepared.
      let padded = part + Array(repeating: part[0], count: headsAtOnce - part.count)
      for row in try session.rows(headsStatement, padded.map(SQLValue.text)) {
        heads[try row.text(0)] = try row.integer(1)
      }
    }
    return heads
  }

  private static let headsAtOnce = 100
  private static let headsStatement =
    "SELECT zone, head FROM zones WHERE zone IN ("
    + (1...headsAtOnce).map { "$\($0)" }.joined(separator: ", ") + ")"
}
