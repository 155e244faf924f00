import SteadSyncProtocol

/// A zone's row: its counters, its owner and the rules of its types.
struct ZoneRow: Hashable, Sendable {
  let zone: String
  let owner: String
  var state: ZoneState
  /// Bytes of the blobs.
  var blobBytes: Int64
  private var rules: [UInt8]

  private static let columns = """
    owner, head, token, min_seq, min_schema, bytes, blob_bytes, live, time, clock, seen, rules
    """

  /// Locks a zone until the transaction ends; returns nil if it doesn't exist. It is the first statement of every
  /// change: because only one transaction at a time has the zone, the numbers after the head become visible in their
  /// order.
  static func locked(_ zone: String, in session: any SQLSession, schemas: SchemaCache) throws
    -> ZoneRow?
  {
    let row = try session.row(
      "UPDATE zones SET head = head + 0 WHERE zone = $1 RETURNING \(columns)", [.text(zone)])
    return try row.map { try ZoneRow(zone, $0, schemas) }
  }

  /// Reads a zone without a lock; nil if it doesn't exist.
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
    state.mark = Mark(
      head: try row.integer(1), token: UInt64(bitPattern: try row.integer(2)))
    state.purged = try row.integer(3)
    state.minimumSchema = Int(try row.integer(4))
    state.bytes = Int(try row.integer(5))
    blobBytes = try row.integer(6)
    state.records = Int(try row.integer(7))
    state.now = try row.integer(8)
    state.clock = HybridClock(
      last: Self.moment(try row.integer(9)), seen: Self.moment(try row.integer(10)), offset: 0)
    rules = try row.bytes(11)
    state.schema = try schemas.schema(rules)
  }

  /// The statement that writes the changes.
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
    let bits = UInt64(bitPattern: number)
    return HybridClock.Moment(
      milliseconds: Int64(bits >> 16), counter: UInt16(truncatingIfNeeded: bits))
  }
}

extension ZoneRow {
  /// The size of the owner's other zones and of all the owner's blobs, in bytes.
  func otherBytes(in session: any SQLSession) throws -> Int64 {
    let row = try session.row(
      "SELECT CAST(SUM(bytes + blob_bytes) AS BIGINT) FROM zones WHERE owner = $1", [.text(owner)])
    return try (row?.integer(0) ?? 0) - Int64(state.bytes)
  }

  /// Throws ``ServerError`` if the owner's zones would exceed the quota with so many more bytes.
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
