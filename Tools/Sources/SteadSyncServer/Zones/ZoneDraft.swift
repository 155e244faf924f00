import SteadSyncProtocol

/// A push that was merged in advance on a reading connection, with the statements that write it.
///
/// With SQLite, one thread writes. Merging there would block all zones, and costs more than writing.
struct ZoneDraft: Sendable {
  /// The state that the draft builds on: the zone's row and the client's.
  fileprivate let zone: ZoneRow
  fileprivate let client: SQLRow?
  /// The bytes of the zone's records after the push.
  fileprivate let bytes: Int
  fileprivate let statements: [SQLStatement]
  fileprivate let outcome: ZonePush.Outcome
}

extension ZonePush {
  /// Merges the push in a reading transaction. Returns nil if the push must be merged where it is written: the zone,
  /// as it is now, wouldn't accept it, or it names blobs, whose rows can change without the zone's row.
  func draft(for name: String, in session: any SQLSession, schemas: SchemaCache) throws
    -> ZoneDraft?
  {
    let read = try ZoneTables.read(name, device: caller.device, in: session, schemas: schemas)
    let tables = try checked(read, name, in: session)
    let zone = tables.row
    let client = try ZoneTables.clientRow(push.client, of: tables.zone, in: session)
    let outcome = try merge(into: tables)
    guard case .taken = outcome.answer, !tables.usesBlobs else { return nil }
    return ZoneDraft(
      zone: zone, client: client, bytes: tables.row.state.bytes,
      statements: try tables.statements(), outcome: outcome)
  }

  /// Writes a draft in a transaction. Returns nil, and does nothing, if the state that it builds on has changed.
  func write(
    _ draft: ZoneDraft, to name: String, in session: any SQLSession, schemas: SchemaCache
  ) throws -> Outcome? {
    // Every change of a record changes the zone's row, and every push its client's.
    guard let zone = try ZoneRow.locked(name, in: session, schemas: schemas), zone == draft.zone,
      try ZoneTables.clientRow(push.client, of: .text(name), in: session) == draft.client
    else { return nil }
    try Membership.check(caller, zone: name, atLeast: .write, in: session)
    // The owner's other zones may have grown.
    guard try draft.bytes <= zone.state.bytes || draft.bytes <= room(for: zone, in: session) else {
      return nil
    }
    try session.run(draft.statements)
    return draft.outcome
  }
}
