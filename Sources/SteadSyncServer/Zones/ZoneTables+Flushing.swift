#if Server
import SteadSQLite
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

  /// Writes the changes.
  func flush() throws { try session.run(try statements()) }

  /// The statements that write the changes.
  func statements() throws -> [SQLStatement] {
    let changes = self.changes.values.sorted { $0.record.seq < $1.record.seq }
    var statements = Self.puttingRecords.statements(changes.map { row(of: $0.record) })
    statements += keyStatements()
    statements += try indexStatements(changes)
    statements += newMarks.map { Self.adding($0.mark, to: zone, at: $0.made) }
    for (blob, time) in touchedBlobs {
      statements.append(
        SQLStatement(
          "UPDATE blobs SET touched = $1 WHERE zone = $2 AND sha256 = $3",
          [.integer(time), zone, .text(blob.text)]))
    }
    for client in changedClients {
      guard let state = clients[client] else { continue }
      statements.append(Self.saving(state, of: client, on: device, in: zone))
    }
    if isStateChanged { statements.append(try row.saving(schemas)) }
    return statements
  }

  private func row(of record: Record) -> [SQLValue] {
    [
      zone, .text(record.id.text), .text(record.type), .integer(record.seq),
      .integer(record.isLive ? 0 : 1), .integer(Int64(record.size)),
      .bytes(record.encoded()),
    ]
  }

  private func keyStatements() -> [SQLStatement] {
    var held: [[SQLValue]] = []
    var statements: [SQLStatement] = []
    for (token, holder) in holders {
      // Most changes leave the keys of their records as they are.
      if let known = storedHolders[token], known == holder { continue }
      if let holder {
        held.append([zone, .text(token.text), .text(holder.text)])
      } else {
        statements.append(
          SQLStatement(
            "DELETE FROM uniq WHERE zone = $1 AND token = $2", [zone, .text(token.text)]))
      }
    }
    return statements + Self.puttingKeys.statements(held)
  }

  /// Writes the references between records and from records to blobs.
  private func indexStatements(_ changes: [Change]) throws -> [SQLStatement] {
    var statements: [SQLStatement] = []
    var (references, blobReferences): ([[SQLValue]], [[SQLValue]]) = ([], [])
    for change in changes {
      let (new, old) = (change.index, try storedIndex(of: change.record.id))
      let id = SQLValue.text(change.record.id.text)
      if new.targets != old.targets {
        let (from, to) = (old.targets.map(\.text), new.targets.map(\.text))
        statements += removals(Self.removingReference, id, from, to)
        references += additions(id, from, to)
      }
      if new.blobs != old.blobs {
        let (from, to) = (old.blobs.map(\.text), new.blobs.map(\.text))
        statements += removals(Self.removingBlobReference, id, from, to)
        blobReferences += additions(id, from, to)
      }
    }
    return statements + Self.addingReferences.statements(references)
      + Self.addingBlobReferences.statements(blobReferences)
  }

  /// The statements that remove a record's former names.
  private func removals(
    _ text: String, _ id: SQLValue, _ old: [String], _ new: [String]
  ) -> [SQLStatement] {
    Set(old).subtracting(new).map { SQLStatement(text, [zone, .text($0), id]) }
  }

  /// The rows of a record's new names.
  private func additions(_ id: SQLValue, _ old: [String], _ new: [String]) -> [[SQLValue]] {
    Set(new).subtracting(old).map { [zone, .text($0), id] }
  }

  static func adding(_ mark: Mark, to zone: SQLValue, at milliseconds: Int64) -> SQLStatement {
    SQLStatement(
      "INSERT INTO marks (zone, head, token, made) VALUES ($1, $2, $3, $4)",
      [
        zone, .integer(mark.head), .integer(Int64(bitPattern: mark.token)), .integer(milliseconds),
      ])
  }

  static func saving(
    _ state: ZoneClient, of client: ClientID, on device: String, in zone: SQLValue
  ) -> SQLStatement {
    SQLStatement(
      """
      INSERT INTO clients (zone, client, device, state) VALUES ($1, $2, $3, $4)
      ON CONFLICT (zone, client) DO UPDATE SET state = excluded.state
      """,
      [zone, .text(client.text), .text(device), .bytes(state.encoded())])
  }
}
#endif
