import SteadSyncProtocol

extension ZoneTables {
  static let puttingRecords = RowBatch.Insert(
    into: "records", ["zone", "id", "type", "seq", "dead", "size", "body"],
    """
    ON CONFLICT (zone, id) DO UPDATE SET type = excluded.type, seq = excluded.seq,
      dead = excluded.dead, size = excluded.size, body = excluded.body
    """)
  private static let puttingKeys = RowBatch.Insert(
    into: "uniq", ["zone", "token", "id"],
    "ON CONFLICT (zone, token) DO UPDATE SET id = excluded.id")
  private static let addingReferences = RowBatch.Insert(
    into: "refs", ["zone", "target", "id"], "ON CONFLICT (zone, target, id) DO NOTHING")
  private static let addingBlobReferences = RowBatch.Insert(
    into: "blob_refs", ["zone", "sha256", "id"], "ON CONFLICT (zone, sha256, id) DO NOTHING")

  private static let removingReference =
    "DELETE FROM refs WHERE zone = $1 AND target = $2 AND id = $3"
  private static let removingBlobReference =
    "DELETE FROM blob_refs WHERE zone = $1 AND sha256 = $2 AND id = $3"

  /// Writes what was changed.
  func flush() throws {
    let changes = self.changes.values.sorted { $0.record.seq < $1.record.seq }
    try Self.puttingRecords.run(changes.map { row(of: $0.record) }, in: session)
    try flushKeys()
    try flushIndexes(changes)
    for (mark, made) in newMarks {
      try session.change(
        "INSERT INTO marks (zone, head, token, made) VALUES ($1, $2, $3, $4)",
        [
          zone, .integer(mark.head), .integer(Int64(bitPattern: mark.token)), .integer(made),
        ])
    }
    for (blob, time) in touchedBlobs {
      try session.change(
        "UPDATE blobs SET touched = $1 WHERE zone = $2 AND sha256 = $3",
        [.integer(time), zone, .text(blob.text)])
    }
    for client in changedClients { try flush(client) }
    if isStateChanged { try row.save(in: session, schemas: schemas) }
  }

  private func row(of record: Record) -> [SQLValue] {
    [
      zone, .text(record.id.text), .text(record.type), .integer(record.seq),
      .integer(record.isLive ? 0 : 1), .integer(Int64(record.size)),
      .bytes(record.encoded()),
    ]
  }

  private func flushKeys() throws {
    var held: [[SQLValue]] = []
    for (token, holder) in holders {
      // Most changes leave the keys of their records as they are.
      if let known = storedHolders[token], known == holder { continue }
      if let holder {
        held.append([zone, .text(token.text), .text(holder.text)])
      } else {
        try session.change(
          "DELETE FROM uniq WHERE zone = $1 AND token = $2", [zone, .text(token.text)])
      }
    }
    try Self.puttingKeys.run(held, in: session)
  }

  /// Writes which records refer to which, and which name which blobs.
  private func flushIndexes(_ changes: [Change]) throws {
    var (references, blobReferences): ([[SQLValue]], [[SQLValue]]) = ([], [])
    for change in changes {
      let (new, old) = (change.index, try storedIndex(of: change.record.id))
      let id = SQLValue.text(change.record.id.text)
      if new.targets != old.targets {
        references += try flush(
          Self.removingReference, id, old.targets.map(\.text), new.targets.map(\.text))
      }
      if new.blobs != old.blobs {
        blobReferences += try flush(
          Self.removingBlobReference, id, old.blobs.map(\.text), new.blobs.map(\.text))
      }
    }
    try Self.addingReferences.run(references, in: session)
    try Self.addingBlobReferences.run(blobReferences, in: session)
  }

  /// Removes the old names that a record has no more; the rows of those that it has got.
  private func flush(
    _ removal: String, _ id: SQLValue, _ old: [String], _ new: [String]
  ) throws -> [[SQLValue]] {
    for name in Set(old).subtracting(new) { try session.change(removal, [zone, .text(name), id]) }
    return Set(new).subtracting(old).map { [zone, .text($0), id] }
  }

  private func flush(_ client: ClientID) throws {
    guard let state = clients[client] else { return }
    try session.change(
      """
      INSERT INTO clients (zone, client, device, state) VALUES ($1, $2, $3, $4)
      ON CONFLICT (zone, client) DO UPDATE SET state = excluded.state
      """,
      [zone, .text(client.text), .text(device), .bytes(state.encoded())])
  }
}
