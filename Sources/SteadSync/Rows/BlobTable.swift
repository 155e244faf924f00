import Foundation
import SteadFiles
import SteadRecords
import SteadSQLite
import SteadSyncProtocol

/// Large values of external attributes: a field names them by their hash, and they travel apart.
///
/// Which rows have which blobs is in the table `stead_sync_blobs`; fetched ones wait in `stead_sync_fetched` for the page
/// that names them.
struct BlobTable {
  /// Values of fewer bytes travel within their records.
  static let threshold = 16 << 10

  let database: any SyncDatabase

  /// The value of a field for a column of an external attribute.
  func value(
    of column: SQLValue, _ attribute: String, _ row: RowMap.Row, _ rows: RowTransaction
  ) throws -> SyncValue {
    let bytes: Data
    let hash: String
    switch column {
    // The file's name is the hash of its bytes.
    case .text(let reference):
      guard case .blob(let found) = try rows.bytes(ofExternal: column) else { return .null }
      (bytes, hash) = (found, reference)
    case .blob(let found):
      guard found.count >= Self.threshold else { return ColumnCoding.value(column) }
      (bytes, hash) = (found, SHA256.hexadecimal(found))
    default: return ColumnCoding.value(column)
    }
    guard bytes.count >= Self.threshold else { return ColumnCoding.value(.blob(bytes)) }
    try database.run(
      "INSERT INTO stead_sync_blobs VALUES (?1, ?2, ?3, ?4) "
        + "ON CONFLICT DO UPDATE SET root = excluded.root, number = excluded.number, "
        + "attribute = excluded.attribute",
      [.text(hash), .text(row.root), .integer(row.number), .text(attribute)])
    return .object(["sha256": .string(hash), "size": .int(Int64(bytes.count))])
  }

  /// The bytes of a blob, from a row that has it or from what was fetched; nil where this device hasn't got it.
  func bytes(of blob: BlobID, _ model: WireModel, _ rows: RowTransaction) throws -> Data? {
    var fetched: Data?
    try database.forEach(
      "SELECT bytes FROM stead_sync_fetched WHERE sha256 = ?1", [.text(blob.text)]
    ) { fetched = $0.data(0) }
    if let fetched { return fetched }
    var place: (root: String, number: Int64, attribute: String)?
    try database.forEach(
      "SELECT root, number, attribute FROM stead_sync_blobs WHERE sha256 = ?1", [.text(blob.text)]
    ) { place = ($0.text(0), $0.integer(1), $0.text(2)) }
    guard let place,
      let shape = model.entities.values.first(where: { $0.shape.root == place.root })?.shape,
      let name = try rows.entityName(of: place.number, in: shape),
      let own = model.entities[name]?.shape, own.columns.contains(place.attribute),
      let column = try rows.value(of: place.attribute, in: own, place.number),
      case .blob(let bytes) = try rows.bytes(ofExternal: column),
      SHA256.hexadecimal(bytes) == blob.text
    else { return nil }
    return bytes
  }

  func keep(_ blob: BlobID, _ bytes: Data) throws {
    try database.run(
      "INSERT OR REPLACE INTO stead_sync_fetched VALUES (?1, ?2)",
      [.text(blob.text), .blob(bytes)])
  }

  /// Forgets what was fetched, when the rows have it.
  func forgetFetched() throws { try database.run("DELETE FROM stead_sync_fetched") }
}
