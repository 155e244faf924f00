import Foundation
import SteadEncoding
import SteadRecords
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

// MARK: - Blobs

/// Large values of external attributes. A field has their hash, and they are sent separately, once for each content.
///
/// The table `stead_sync_blobs` says which row has which blob. It is an index that may be out of date: a row's bytes
/// are hashed before they are used. Fetched blobs wait in `stead_sync_fetched` for the page that names them.
struct BlobTable {
  /// The size from which on a value is a blob, in bytes. Smaller ones are sent within their records.
  static let threshold = 16 << 10

  /// The database with both tables, in an open transaction.
  let database: any SyncDatabase

  /// The value of a field for a column of an external attribute: the hash and the size of a blob, or a small value
  /// itself.
  func value(
    of column: SQLValue, _ attribute: String, _ row: RowTable.Row, _ rows: RowTransaction
  ) throws -> SyncValue {
    let bytes: Data
    let hash: String
    switch column {
    // The file's name is the hash of its bytes.
    case .text(let reference):
      guard case .blob(let found) = try rows.bytes(ofExternal: column) else { return .null }
      (bytes, hash) = (found, reference)
    case .blob(let found):
      guard found.count >= Self.threshold else { return WireCoding.value(column) }
      (bytes, hash) = (found, SHA256.hexadecimal(found))
    default: return WireCoding.value(column)
    }
    guard bytes.count >= Self.threshold else { return WireCoding.value(.blob(bytes)) }
    try record(hash, row, attribute)
    return .object(["sha256": .string(hash), "size": .int(Int64(bytes.count))])
  }

  /// The bytes of a blob, from a row or from the fetched ones; nil if this device lacks it.
  ///
  /// Costs a look-up, and reading and hashing the value of each row that may have it, until one has. The hash is
  /// checked because a program may have replaced the value since the index was written.
  func bytes(of blob: BlobID, _ model: WireModel, _ rows: RowTransaction) throws -> Data? {
    var fetched: Data?
    try database.forEach(
      "SELECT bytes FROM stead_sync_fetched WHERE sha256 = ?1", [.text(blob.text)]
    ) { fetched = $0.data(0) }
    // Its hash was checked before it was stored.
    if let fetched { return fetched }
    // Collected first: the search in a row runs statements of its own.
    var holders: [(row: RowTable.Row, attribute: String)] = []
    try database.forEach(
      "SELECT root, number, attribute FROM stead_sync_blobs WHERE sha256 = ?1", [.text(blob.text)]
    ) { holders.append((RowTable.Row(root: $0.text(0), number: $0.integer(1)), $0.text(2))) }
    for holder in holders {
      if let bytes = try bytes(in: holder.row, holder.attribute, model, rows),
        SHA256.hexadecimal(bytes) == blob.text
      {
        return bytes
      }
    }
    return nil
  }

  /// The bytes in an attribute of a row; nil if the row or the attribute no longer exists.
  private func bytes(
    in row: RowTable.Row, _ attribute: String, _ model: WireModel, _ rows: RowTransaction
  ) throws -> Data? {
    guard let shape = model.entities.values.first(where: { $0.shape.root == row.root })?.shape,
      let name = try rows.entityName(of: row.number, in: shape),
      let own = model.entities[name]?.shape, own.columns.contains(attribute),
      let column = try rows.value(of: attribute, in: own, row.number),
      case .blob(let bytes) = try rows.bytes(ofExternal: column)
    else { return nil }
    return bytes
  }

  /// Records that a row has a blob.
  func record(_ hash: String, _ row: RowTable.Row, _ attribute: String) throws {
    try database.run(
      "INSERT INTO stead_sync_blobs VALUES (?1, ?2, ?3, ?4) "
        + "ON CONFLICT DO UPDATE SET sha256 = excluded.sha256",
      [.text(row.root), .integer(row.number), .text(attribute), .text(hash)])
  }

  /// Removes the blobs of a deleted row from the index.
  func remove(_ row: RowTable.Row) throws {
    try database.run(
      "DELETE FROM stead_sync_blobs WHERE root = ?1 AND number = ?2",
      [.text(row.root), .integer(row.number)])
  }

  /// Stores the bytes of a blob until ``removeFetched()``.
  func storeFetched(_ blob: BlobID, _ bytes: Data) throws {
    try database.run(
      "INSERT OR REPLACE INTO stead_sync_fetched VALUES (?1, ?2)",
      [.text(blob.text), .blob(bytes)])
  }

  /// Removes the fetched blobs, once the rows have them.
  func removeFetched() throws { try database.run("DELETE FROM stead_sync_fetched") }
}
