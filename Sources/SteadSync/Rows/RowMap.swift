import SteadRecords
import SteadSQLite
internal import SteadSyncProtocol

/// The row of each record, in the table `stead_sync_rows`.
struct RowMap {
  let database: any SyncDatabase

  /// A row, by the root of its hierarchy: a hierarchy has one sequence of numbers.
  struct Row: Hashable {
    let root: String
    let number: Int64
  }

  func id(of row: Row) throws -> RecordID? {
    try database.text(
      "SELECT id FROM stead_sync_rows WHERE root = ?1 AND number = ?2",
      [.text(row.root), .integer(row.number)]
    ).flatMap { RecordID($0) }
  }

  /// The identifier of a row's record; a new one if it has none.
  func identify(_ row: Row) throws -> (id: RecordID, isNew: Bool) {
    if let known = try id(of: row) { return (known, false) }
    let id = RandomName.record()
    try set(row, for: id)
    return (id, true)
  }

  func row(of id: RecordID) throws -> Row? {
    var row: Row?
    try database.forEach(
      "SELECT root, number FROM stead_sync_rows WHERE id = ?1", [.text(id.text)]
    ) { row = Row(root: $0.text(0), number: $0.integer(1)) }
    return row
  }

  func set(_ row: Row, for id: RecordID) throws {
    try database.run(
      "INSERT INTO stead_sync_rows VALUES (?1, ?2, ?3) "
        + "ON CONFLICT (id) DO UPDATE SET root = excluded.root, number = excluded.number",
      [.text(id.text), .text(row.root), .integer(row.number)])
  }

  func forget(_ id: RecordID) throws {
    try database.run("DELETE FROM stead_sync_rows WHERE id = ?1", [.text(id.text)])
  }

  func forEach(_ body: (RecordID, Row) throws -> Void) throws {
    try database.forEach("SELECT id, root, number FROM stead_sync_rows") { row in
      guard let id = RecordID(row.text(0)) else { return }
      try body(id, Row(root: row.text(1), number: row.integer(2)))
    }
  }
}
