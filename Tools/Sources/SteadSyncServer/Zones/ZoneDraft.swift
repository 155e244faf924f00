import SteadSyncProtocol

/// A push that was merged beforehand, on a connection that reads, with the statements that write it.
///
/// SQLite has one thread that writes. What is merged there keeps all zones waiting, and merging costs more than
/// writing does.
struct ZoneDraft: Sendable {
  /// What the draft builds on: the zone's row, and the client's.
  fileprivate let zone: ZoneRow
  fileprivate let client: SQLRow?
  /// The bytes of the zone's records after the push.
  fileprivate let bytes: Int
  fileprivate let statements: [SQLStatement]
  fileprivate let outcome: ZonePush.Outcome
}

extension ZonePush {
  /// Merges the push within a transaction that reads. Nil if the push has to be merged where it is written: it isn't
  /// taken as the zone is now, or it names blobs, whose rows can change while the zone's stays as it is.
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

  /// Writes a draft within a transaction. Nil if what it builds on has changed; then nothing was done.
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
