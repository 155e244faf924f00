#if Server
import SteadSQLite

/// The server's tables, in SQL that both engines read.
///
/// The zone is the first column of every key of a zone's rows, so that a database can be divided by zone.
enum Tables {
  static let version: Int64 = 2

  /// Makes the tables that don't exist. Throws if another version of the server made them.
  static func create(in session: any SQLSession) throws {
    try session.beginWriting()
    do {
      for statement in statements { try session.execute(statement) }
      try checkVersion(session)
      try session.execute("COMMIT")
    } catch {
      session.rollBack()
      throw error
    }
  }

  private static func checkVersion(_ session: any SQLSession) throws {
    guard let row = try session.row("SELECT version FROM server_schema") else {
      try session.change("INSERT INTO server_schema (version) VALUES ($1)", [.integer(version)])
      return
    }
    guard try row.integer(0) == version else {
      throw EngineError(
        code: .other, message: "Another version of the server made this database; use that one.")
    }
  }

  /// The tables with a column `zone`, for the removal of a zone.
  static let ofZones = [
    "blob_refs", "blobs", "clients", "marks", "refs", "uniq", "records", "account_zones", "members",
    "zones",
  ]

  private static let statements = access + zones

  private static let access = [
    "CREATE TABLE IF NOT EXISTS server_schema (version BIGINT NOT NULL)",
    """
    CREATE TABLE IF NOT EXISTS accounts (
      account TEXT PRIMARY KEY, created BIGINT NOT NULL)
    """,
    """
    CREATE TABLE IF NOT EXISTS invitations (
      account TEXT NOT NULL, hash BYTEA NOT NULL, expires BIGINT NOT NULL, tries BIGINT NOT NULL,
      PRIMARY KEY (account, hash))
    """,
    """
    CREATE TABLE IF NOT EXISTS devices (
      device TEXT PRIMARY KEY, account TEXT NOT NULL, name TEXT NOT NULL, created BIGINT NOT NULL,
      seen BIGINT NOT NULL, revoked BIGINT NOT NULL, redeemed BYTEA)
    """,
    "CREATE INDEX IF NOT EXISTS devices_account ON devices (account)",
    """
    CREATE TABLE IF NOT EXISTS refresh_tokens (
      hash BYTEA PRIMARY KEY, device TEXT NOT NULL, parent BYTEA, expires BIGINT NOT NULL)
    """,
    "CREATE INDEX IF NOT EXISTS refresh_tokens_device ON refresh_tokens (device)",
    """
    CREATE TABLE IF NOT EXISTS members (
      zone TEXT NOT NULL, account TEXT NOT NULL, role TEXT NOT NULL, PRIMARY KEY (zone, account))
    """,
    """
    CREATE TABLE IF NOT EXISTS account_zones (
      account TEXT NOT NULL, zone TEXT NOT NULL, PRIMARY KEY (account, zone))
    """,
  ]

  /// `token` belongs to the head, `live` counts live records, `time` is the latest time of a push, `clock` and `seen`
  /// are the hybrid clock's moments, and `min_seq` is the number up to which tombstones were purged.
  private static let zones = [
    """
    CREATE TABLE IF NOT EXISTS zones (
      zone TEXT PRIMARY KEY, owner TEXT NOT NULL, head BIGINT NOT NULL, token BIGINT NOT NULL,
      min_seq BIGINT NOT NULL, min_schema BIGINT NOT NULL, bytes BIGINT NOT NULL,
      blob_bytes BIGINT NOT NULL, live BIGINT NOT NULL, time BIGINT NOT NULL,
      clock BIGINT NOT NULL, seen BIGINT NOT NULL, rules BYTEA NOT NULL, created BIGINT NOT NULL)
    """,
    "CREATE INDEX IF NOT EXISTS zones_owner ON zones (owner)",
    """
    CREATE TABLE IF NOT EXISTS records (
      zone TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, seq BIGINT NOT NULL,
      dead BIGINT NOT NULL, size BIGINT NOT NULL, body BYTEA NOT NULL,
      PRIMARY KEY (zone, id), UNIQUE (zone, seq))
    """,
    """
    CREATE TABLE IF NOT EXISTS uniq (
      zone TEXT NOT NULL, token TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (zone, token))
    """,
    """
    CREATE TABLE IF NOT EXISTS refs (
      zone TEXT NOT NULL, target TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (zone, target, id))
    """,
    """
    CREATE TABLE IF NOT EXISTS clients (
      zone TEXT NOT NULL, client TEXT NOT NULL, device TEXT NOT NULL, state BYTEA NOT NULL,
       PRIMARY KEY (zone, client))
    """,
    """
    CREATE TABLE IF NOT EXISTS marks (
      zone TEXT NOT NULL, head BIGINT NOT NULL, token BIGINT NOT NULL, made BIGINT NOT NULL,
      PRIMARY KEY (zone, head))
    """,
    """
    CREATE TABLE IF NOT EXISTS blobs (
      zone TEXT NOT NULL, sha256 TEXT NOT NULL, size BIGINT NOT NULL, touched BIGINT NOT NULL,
      PRIMARY KEY (zone, sha256))
    """,
    """
    CREATE TABLE IF NOT EXISTS blob_refs (
      zone TEXT NOT NULL, sha256 TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (zone, sha256, id))
    """,
  ]
}
#endif
