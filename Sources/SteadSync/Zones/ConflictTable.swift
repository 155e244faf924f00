import SteadSQLite
internal import SteadSyncProtocol

/// The conflicts of a zone, in the table `stead_sync_conflicts`, oldest first.
struct ConflictTable {
  /// The maximum number of conflicts. Beyond it the oldest are removed.
  static let limit: Int64 = 1000

  let database: any SyncDatabase

  func note(_ conflicts: [SyncConflict], at milliseconds: Int64) throws {
    guard !conflicts.isEmpty else { return }
    for conflict in conflicts {
      let content: SyncValue = .object([
        "kind": .string(name(conflict.kind)), "record": .string(conflict.id.text),
        "into": into(conflict.kind), "type": conflict.type.map { .string($0) } ?? .null,
        "field": conflict.field.map { .string($0) } ?? .null, "mine": conflict.sent ?? .null,
        "theirs": conflict.present ?? .null, "at": .int(milliseconds),
      ])
      try database.run(
        "INSERT INTO stead_sync_conflicts (content) VALUES (?1)",
        [.text(String(decoding: content.encoded(), as: UTF8.self))])
    }
    try database.run(
      "DELETE FROM stead_sync_conflicts WHERE number <= "
        + "(SELECT max(number) FROM stead_sync_conflicts) - ?1", [.integer(Self.limit)])
  }

  func all() throws -> [SyncConflict] {
    try database.texts("SELECT content FROM stead_sync_conflicts ORDER BY number").compactMap {
      conflict(try SyncValue(encoded: $0.utf8))
    }
  }

  /// Forgets one conflict.
  func forget(_ gone: SyncConflict) throws {
    var numbers: [Int64] = []
    try database.forEach("SELECT number, content FROM stead_sync_conflicts") { row in
      let found = conflict(try SyncValue(encoded: row.text(1).utf8))
      if found == gone { numbers.append(row.integer(0)) }
    }
    for number in numbers {
      try database.run("DELETE FROM stead_sync_conflicts WHERE number = ?1", [.integer(number)])
    }
  }

  func clear() throws { try database.run("DELETE FROM stead_sync_conflicts") }

  private func conflict(_ value: SyncValue) -> SyncConflict? {
    guard let members = value.object,
      let record = members["record"]?.string.flatMap({ RecordID($0) })
    else { return nil }
    let kind: SyncConflict.Kind
    switch members["kind"]?.string {
    case "overwritten": kind = .overwritten
    case "deleted": kind = .deleted
    case "merged": kind = .merged(members["into"]?.string)
    default: kind = .denied
    }
    return SyncConflict(
      kind: kind, id: record, type: members["type"]?.string, field: members["field"]?.string,
      sent: members["mine"], present: members["theirs"].flatMap { $0 == .null ? nil : $0 })
  }

  private func name(_ kind: SyncConflict.Kind) -> String {
    switch kind {
    case .overwritten: "overwritten"
    case .deleted: "deleted"
    case .merged: "merged"
    case .denied: "denied"
    }
  }

  private func into(_ kind: SyncConflict.Kind) -> SyncValue {
    if case .merged(let into?) = kind { .string(into) } else { .null }
  }
}
