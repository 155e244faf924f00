#if Server
import SteadSQLite

/// What a member may do in a zone.
enum Role: String, Codable, Sendable, Comparable {
  // The names are in the database and in JSON.
  case read, write, owner

  private var rank: Int {
    switch self {
    case .read: 0
    case .write: 1
    case .owner: 2
    }
  }

  static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }
}

/// The members of zones and their roles, in the tables `members` and `account_zones`.
///
/// Both tables have the same pairs. `members` has the zone first in its key, like every table of a zone's data, and
/// `account_zones` has the account first, for the list of a user's zones. ``insert(_:for:zone:in:)`` and
/// ``remove(_:zone:in:)`` keep them equal.
enum Membership {
  /// The maximum number of a zone's members.
  static let maximumMembers: Int64 = 100

  /// A member as the list of members shows it.
  struct Member: Encodable, Sendable {
    var user: String
    var role: Role
  }

  /// An account's role in a zone; nil if it isn't a member. A name that isn't a role of this version counts as none.
  static func role(of account: String, zone: String, in session: any SQLSession) throws -> Role? {
    let row = try session.row(
      "SELECT role FROM members WHERE zone = $1 AND account = $2", [.text(zone), .text(account)])
    return try row.flatMap { Role(rawValue: try $0.text(0)) }
  }

  /// Throws unless the token's device may send requests and its account has at least the given role in the zone.
  ///
  /// The answer is the same for a zone that doesn't exist and for one of other users, so that nobody can probe for
  /// zones.
  ///
  /// - Throws: ``ServerError``: `unauthorized` for a revoked device, `notFound` for a zone of which the account
  ///   isn't a member, and `forbidden` for a lesser role.
  static func check(
    _ token: AccessToken, zone: String, atLeast needed: Role, in session: any SQLSession
  ) throws {
    // In the same transaction as what follows: a device that was revoked before it began can't act any more.
    try Devices.check(token, in: session)
    guard let role = try role(of: token.account, zone: zone, in: session) else {
      throw ServerError(
        .notFound, "The zone doesn't exist, or the user isn't a member of it.",
        remedy: "Ask the zone's owner to share it.")
    }
    guard role >= needed else {
      throw ServerError(
        .forbidden, "The user's role in the zone doesn't allow this.",
        remedy: "Ask the zone's owner for the role \(needed.rawValue).")
    }
  }

  /// The members of a zone in the order of their names. A role that this version doesn't know is shown as `read`.
  static func members(of zone: String, in session: any SQLSession) throws -> [Member] {
    try session.rows(
      "SELECT account, role FROM members WHERE zone = $1 ORDER BY account", [.text(zone)]
    ).map { row in
      Member(user: try row.text(0), role: Role(rawValue: try row.text(1)) ?? .read)
    }
  }

  /// Gives an account a role. The owner's role stays as it is.
  ///
  /// Invariant: a zone has exactly one owner, the account in `zones.owner`, since the sizes of the zone count against
  /// that account's quota.
  ///
  /// - Throws: ``ServerError``: `notFound` for an unknown user, `conflict` for the role owner and for the owner,
  ///   and `forbidden` if the zone has ``maximumMembers``.
  static func set(
    _ role: Role, for account: AccountName, zone: String, in session: any SQLSession
  ) throws {
    let known = try session.row(
      "SELECT account FROM accounts WHERE account = $1", [.text(account.text)])
    guard known != nil else {
      throw ServerError(
        .notFound, "The user doesn't exist.",
        remedy: "Create the user on the server with `stead serve invite`.")
    }
    // An owner's role must not be lowered, or the zone would have none.
    guard role != .owner, try self.role(of: account.text, zone: zone, in: session) != .owner else {
      throw ServerError(
        .conflict, "A zone's owner can't change.",
        remedy: "Give another user the role write or read.")
    }
    let count = try session.row("SELECT COUNT(*) FROM members WHERE zone = $1", [.text(zone)])
    guard try count?.integer(0) ?? 0 < maximumMembers else {
      throw ServerError(
        .forbidden, "The zone has too many members.", remedy: "Remove a member.",
        figures: ["limit": maximumMembers])
    }
    try insert(role, for: account.text, zone: zone, in: session)
  }

  /// Inserts or replaces a member in both tables, without any check.
  static func insert(_ role: Role, for account: String, zone: String, in session: any SQLSession)
    throws
  {
    try session.change(
      """
      INSERT INTO members (zone, account, role) VALUES ($1, $2, $3)
      ON CONFLICT (zone, account) DO UPDATE SET role = excluded.role
      """, [.text(zone), .text(account), .text(role.rawValue)])
    try session.change(
      """
      INSERT INTO account_zones (account, zone) VALUES ($1, $2)
      ON CONFLICT (account, zone) DO NOTHING
      """, [.text(account), .text(zone)])
  }

  /// Removes a member. Nothing happens if the account isn't one.
  ///
  /// - Throws: ``ServerError`` with the code `conflict` for the owner: a zone without an owner would count for no
  ///   quota.
  static func remove(_ account: AccountName, zone: String, in session: any SQLSession) throws {
    guard try role(of: account.text, zone: zone, in: session) != .owner else {
      throw ServerError(
        .conflict, "A zone's owner can't leave it.", remedy: "Delete the zone instead.")
    }
    let zone = SQLValue.text(zone)
    try session.change(
      "DELETE FROM members WHERE zone = $1 AND account = $2", [zone, .text(account.text)])
    try session.change(
      "DELETE FROM account_zones WHERE account = $1 AND zone = $2", [.text(account.text), zone])
  }
}
#endif
