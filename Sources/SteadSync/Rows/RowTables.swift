import Foundation
import SteadSQLite
internal import SteadSyncProtocol

/// The row of each record, in the table `stead_sync_rows`. The relation is one to one.
///
/// A row keeps its number as long as it exists, and its record keeps its identity. So the identity, a random one,
/// isn't stored in the models' own tables, which stay as SwiftData makes them.
struct RowTable {
  /// The database with the table, in an open transaction.
  let database: any SyncDatabase

  /// A row: its number, and the root of its class hierarchy, since the classes of a hierarchy share one sequence of
  /// numbers.
  struct Row: Hashable {
    let root: String
    let number: Int64
  }

  /// The identity of a row's record; nil if the row was never sent or received. Costs one look-up.
  func id(of row: Row) throws -> RecordID? {
    try database.text(
      "SELECT id FROM stead_sync_rows WHERE root = ?1 AND number = ?2",
      [.text(row.root), .integer(row.number)]
    ).flatMap { RecordID($0) }
  }

  /// The identifier of a row's record; a random one, which is stored, if it has none yet.
  func identify(_ row: Row) throws -> (id: RecordID, isNew: Bool) {
    if let known = try id(of: row) { return (known, false) }
    // Stored at once, so that a reference to the row and its own insert name the same record.
    let id = RandomName.record()
    try set(row, for: id)
    return (id, true)
  }

  /// The row of a record; nil if it has none. Costs one look-up.
  func row(of id: RecordID) throws -> Row? {
    var row: Row?
    try database.forEach(
      "SELECT root, number FROM stead_sync_rows WHERE id = ?1", [.text(id.text)]
    ) { row = Row(root: $0.text(0), number: $0.integer(1)) }
    return row
  }

  /// Records the row of a record, in place of the one that it had.
  func set(_ row: Row, for id: RecordID) throws {
    // Only a conflict by the record is resolved: two records of one row would be an error.
    try database.run(
      "INSERT INTO stead_sync_rows VALUES (?1, ?2, ?3) "
        + "ON CONFLICT (id) DO UPDATE SET root = excluded.root, number = excluded.number",
      [.text(id.text), .text(row.root), .integer(row.number)])
  }

  /// Removes a record's entry. Nothing happens if it has none.
  func remove(_ id: RecordID) throws {
    try database.run("DELETE FROM stead_sync_rows WHERE id = ?1", [.text(id.text)])
  }

  /// Calls a body with every record that has a row. The body must not change the table.
  func forEach(_ body: (RecordID, Row) throws -> Void) throws {
    try database.forEach("SELECT id, root, number FROM stead_sync_rows") { row in
      guard let id = RecordID(row.text(0)) else { return }
      try body(id, Row(root: row.text(1), number: row.integer(2)))
    }
  }
}

// MARK: - Links

/// The pair of rows of each link, in the table `stead_sync_links`: a link's record is gone when its pair has to be
/// removed.
struct LinkTable {
  /// The database with the table, in an open transaction.
  let database: any SyncDatabase

  /// The row numbers of a link's two sides; nil if no pair was inserted for it.
  func pair(of id: RecordID) throws -> (owner: Int64, target: Int64)? {
    var pair: (owner: Int64, target: Int64)?
    try database.forEach(
      "SELECT owner, target FROM stead_sync_links WHERE id = ?1", [.text(id.text)]
    ) { pair = ($0.integer(0), $0.integer(1)) }
    return pair
  }

  /// The type of a link that has a pair. The record may be a tombstone, which has no fields any more.
  func type(of id: RecordID) throws -> String? {
    try database.text("SELECT type FROM stead_sync_links WHERE id = ?1", [.text(id.text)])
  }

  /// Whether there is a link record for a pair of rows.
  func hasPair(_ type: String, _ owner: Int64, _ target: Int64) throws -> Bool {
    try database.integer(
      "SELECT 1 FROM stead_sync_links WHERE type = ?1 AND owner = ?2 AND target = ?3",
      [.text(type), .integer(owner), .integer(target)]) != nil
  }

  /// Records the pair of a link, in place of the one that it had.
  func set(_ id: RecordID, _ type: String, _ owner: Int64, _ target: Int64) throws {
    try database.run(
      "INSERT INTO stead_sync_links VALUES (?1, ?2, ?3, ?4) "
        + "ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, target = excluded.target",
      [.text(id.text), .text(type), .integer(owner), .integer(target)])
  }

  /// Removes a link's entry. Nothing happens if it has none.
  func remove(_ id: RecordID) throws {
    try database.run("DELETE FROM stead_sync_links WHERE id = ?1", [.text(id.text)])
  }
}
