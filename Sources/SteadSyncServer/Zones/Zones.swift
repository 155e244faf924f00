#if Server
import SteadSQLite
import SteadSyncProtocol
import Synchronization

/// The zones of accounts, in the table `zones`. All functions run in the caller's transaction.
enum Zones {
  /// The maximum number of zones that an account may own.
  static let maximumOwned: Int64 = 1_000

  /// A zone as its members see it in a list.
  struct Zone: Encodable, Sendable {
    /// The zone's name: 32 hexadecimal digits.
    var zone: String
    /// What the account may do in it.
    var role: Role
    /// The account for whose quota it counts.
    var owner: String
    /// The number of its last change.
    var head: Int64
    /// The size of its records and blobs, in bytes.
    var bytes: Int64
  }

  /// Makes a zone that belongs to the token's account; nothing happens if it already does.
  ///
  /// - Throws: ``ServerError``: `unauthorized` for a revoked device; `notFound` if the zone exists and the account
  ///   isn't a member, and `forbidden` if the account isn't the owner; `quota` beyond ``maximumOwned``.
  static func make(_ zone: String, for token: AccessToken, in session: any SQLSession, now: Int64)
    throws
  {
    try Devices.check(token, in: session)
    // A device makes its zones at each start, so this is the usual case.
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

  /// The zones of which an account is a member, in the order of their names. The bytes include blobs.
  static func list(of account: String, in session: any SQLSession) throws -> [Zone] {
    try session.rows(
      """
      SELECT z.zone, m.role, z.owner, z.head, z.bytes + z.blob_bytes
      FROM account_zones a JOIN zones z ON z.zone = a.zone
      JOIN members m ON m.zone = a.zone AND m.account = a.account
      WHERE a.account = $1 ORDER BY z.zone
      """, [.text(account)]
    ).map { row in
      // A role of a later version is shown as the least one. What it allows is decided with each
      // request.
      try Zone(
        zone: row.text(0), role: Role(rawValue: row.text(1)) ?? .read, owner: row.text(2),
        head: row.integer(3), bytes: row.integer(4))
    }
  }

  /// Removes a zone with everything in it but the files of its blobs. Devices that still have the zone get 404.
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

  /// The number of zones that one statement asks for.
  private static let headsAtOnce = 100
  private static let headsStatement =
    "SELECT zone, head FROM zones WHERE zone IN ("
    + (1...headsAtOnce).map { "$\($0)" }.joined(separator: ", ") + ")"
}

/// A zone's row: its counters, its owner and the rules of its types. Equal rows mean equal records, as
/// ``ZonePush/write(_:to:in:schemas:)`` relies on.
struct ZoneRow: Hashable, Sendable {
  let zone: String
  /// The account that made the zone, and for whose quota it counts.
  let owner: String
  /// The counters, the clock and the schema, as the protocol has them.
  var state: ZoneState
  /// Bytes of the blobs.
  var blobBytes: Int64
  /// The schema as it is stored, so that an unchanged one isn't encoded again.
  private var rules: [UInt8]

  private static let columns = """
    owner, head, token, min_seq, min_schema, bytes, blob_bytes, live, time, clock, seen, rules
    """

  /// Locks a zone until the transaction ends; returns nil if it doesn't exist. It is the first statement of every
  /// change: because only one transaction at a time has the zone, the numbers after the head become visible in their
  /// order.
  ///
  /// An `UPDATE` that changes nothing is a lock in both engines; `SELECT FOR UPDATE` doesn't exist in SQLite.
  static func locked(_ zone: String, in session: any SQLSession, schemas: SchemaCache) throws
    -> ZoneRow?
  {
    // With RETURNING: reading the row would be a second round trip while the lock is held.
    let row = try session.row(
      "UPDATE zones SET head = head + 0 WHERE zone = $1 RETURNING \(columns)", [.text(zone)])
    return try row.map { try ZoneRow(zone, $0, schemas) }
  }

  /// Reads a zone without a lock; nil if it doesn't exist. What is read stays true only within a reading transaction.
  static func read(_ zone: String, in session: any SQLSession, schemas: SchemaCache) throws
    -> ZoneRow?
  {
    let row = try session.row("SELECT \(columns) FROM zones WHERE zone = $1", [.text(zone)])
    return try row.map { try ZoneRow(zone, $0, schemas) }
  }

  private init(_ zone: String, _ row: SQLRow, _ schemas: SchemaCache) throws {
    self.zone = zone
    owner = try row.text(0)
    state = ZoneState()
    // SQL has no unsigned integers, so the token's bits are stored as a signed one.
    state.mark = Mark(
      head: try row.integer(1), token: UInt64(bitPattern: try row.integer(2)))
    state.purged = try row.integer(3)
    state.minimumSchema = Int(try row.integer(4))
    state.bytes = Int(try row.integer(5))
    blobBytes = try row.integer(6)
    state.records = Int(try row.integer(7))
    state.now = try row.integer(8)
    // No offset: it is a device's correction, and the server's clock is what devices correct theirs
    // by.
    state.clock = HybridClock(
      last: Self.moment(try row.integer(9)), seen: Self.moment(try row.integer(10)), offset: 0)
    rules = try row.bytes(11)
    state.schema = try schemas.schema(rules)
  }

  /// The statement that writes the row. The schema is encoded only if it has changed.
  mutating func saving(_ schemas: SchemaCache) throws -> SQLStatement {
    if try schemas.schema(rules) != state.schema { rules = state.schema.encoded() }
    return SQLStatement(
      """
      UPDATE zones SET head = $1, token = $2, min_seq = $3, min_schema = $4, bytes = $5,
        blob_bytes = $6, live = $7, time = $8, clock = $9, seen = $10, rules = $11
      WHERE zone = $12
      """,
      [
        .integer(state.mark.head), .integer(Int64(bitPattern: state.mark.token)),
        .integer(state.purged), .integer(Int64(state.minimumSchema)),
        .integer(Int64(state.bytes)), .integer(blobBytes),
        .integer(Int64(state.records)), .integer(state.now),
        .integer(Self.number(state.clock.last)), .integer(Self.number(state.clock.seen)),
        .bytes(rules), .text(zone),
      ])
  }

  /// A moment as one number: 48 bits of milliseconds and 16 bits of the counter.
  private static func number(_ moment: HybridClock.Moment) -> Int64 {
    moment.milliseconds << 16 | Int64(moment.counter)
  }

  private static func moment(_ number: Int64) -> HybridClock.Moment {
    // Through an unsigned integer, since 48 bits of milliseconds reach the sign bit.
    let bits = UInt64(bitPattern: number)
    return HybridClock.Moment(
      milliseconds: Int64(bits >> 16), counter: UInt16(truncatingIfNeeded: bits))
  }
}

extension ZoneRow {
  /// The size of the owner's other zones and of all the owner's blobs, in bytes.
  func otherBytes(in session: any SQLSession) throws -> Int64 {
    // The cast is for PostgreSQL, whose sum of BIGINT is NUMERIC, which the session doesn't read.
    let row = try session.row(
      "SELECT CAST(SUM(bytes + blob_bytes) AS BIGINT) FROM zones WHERE owner = $1", [.text(owner)])
    return try (row?.integer(0) ?? 0) - Int64(state.bytes)
  }

  /// Throws ``ServerError`` with the code `quota` if the owner's zones would exceed the quota with so many more
  /// bytes.
  ///
  /// Zones of one owner are in different lanes, so with PostgreSQL two pushes may both find room and exceed the quota
  /// together, by at most what they add.
  func checkQuota(_ quota: Int64, adding count: Int64, in session: any SQLSession) throws {
    let used = try otherBytes(in: session) + Int64(state.bytes)
    guard count <= 0 || used + count <= quota else {
      throw ServerError(
        .quota, "The owner of the zone has no room left.",
        remedy: "Delete records or blobs, or raise --quota on the server.",
        figures: ["limit": quota, "used": used, "needed": count])
    }
  }
}

/// Schemas by their stored bytes: every push needs its zone's schema, and many zones have the same. Thread-safe, and
/// shared by all connections.
final class SchemaCache: Sendable {
  /// The maximum number of schemas. Beyond it all are dropped.
  static let maximumCount = 500

  private let schemas = Mutex<[[UInt8]: Schema]>([:])

  /// The schema that is stored as these bytes; no bytes mean an empty schema. Throws ``EngineError`` if they are
  /// damaged.
  func schema(_ bytes: [UInt8]) throws -> Schema {
    if bytes.isEmpty { return .empty }
    if let known = schemas.withLock({ $0[bytes] }) { return known }
    // Outside the lock: two threads may decode the same bytes, and neither waits for the other.
    let schema = try StoredForm.read(bytes, as: Schema.self)
    schemas.withLock { schemas in
      // Rare, since most zones share few schemas, so no order of use is kept.
      if schemas.count >= Self.maximumCount { schemas.removeAll() }
      schemas[bytes] = schema
    }
    return schema
  }
}

/// The form of the protocol's values in the database: the protocol's own encoding ("JSON" in SyncProtocol.md).
/// Members that this version doesn't know survive in records, since the encoding keeps them.
enum StoredForm {
  /// The error for bytes that the server can't have written.
  static let damaged = EngineError(
    code: .other, message: "A row of the database is damaged; restore a backup.")

  /// Reads a value that the server has written. Throws ``EngineError`` for anything else.
  static func read<Value: SyncCodable>(_ bytes: [UInt8], as type: Value.Type = Value.self) throws
    -> Value
  {
    do { return try Value(encoded: bytes) } catch { throw damaged }
  }

  /// A record's body with its columns, for a page, which takes the bytes over. Decodes nothing; throws ``EngineError``
  /// for bytes that aren't JSON or belong to another row.
  static func record(_ body: [UInt8], seq: Int64, size: Int, isLive: Bool) throws -> EncodedRecord {
    do {
      return try EncodedRecord(body, seq: seq, size: size, isLive: isLive)
    } catch {
      throw damaged
    }
  }
}
#endif
