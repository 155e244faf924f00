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

  /// Writes what was changed.
  func flush() throws {
    let changes = self.changes.values.sorted { $0.record.seq < $1.record.seq }
    try Self.puttingRecords.run(changes.map { row(of: $0.record) }, in: session)
    try flushKeys()
    try flushReferences(changes)
    try flushBlobReferences(changes)
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

  private func flushReferences(_ changes: [Change]) throws {
    var added: [[SQLValue]] = []
    for change in changes {
      let (id, old) = (SQLValue.text(change.record.id.text), try storedIndex(of: change.record.id))
      for target in Set(old.targets).subtracting(change.index.targets) {
        try session.change(
          "DELETE FROM refs WHERE zone = $1 AND target = $2 AND id = $3",
          [zone, .text(target.text), id])
      }
      for target in Set(change.index.targets).subtracting(old.targets) {
        added.append([zone, .text(target.text), id])
      }
    }
    try Self.addingReferences.run(added, in: session)
  }

  private func flushBlobReferences(_ changes: [Change]) throws {
    var added: [[SQLValue]] = []
    for change in changes {
      let (id, old) = (SQLValue.text(change.record.id.text), try storedIndex(of: change.record.id))
      for blob in Set(old.blobs).subtracting(change.index.blobs) {
        try session.change(
          "DELETE FROM blob_refs WHERE zone = $1 AND sha256 = $2 AND id = $3",
          [zone, .text(blob.text), id])
      }
      for blob in Set(change.index.blobs).subtracting(old.blobs) {
        added.append([zone, .text(blob.text), id])
      }
    }
    try Self.addingBlobReferences.run(added, in: session)
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
