import SteadSQLite
internal import SteadSyncProtocol

/// The pair of rows of each link, in the table `stead_sync_links`.
struct LinkTable {
  let database: any SyncDatabase

  func pair(of id: RecordID) throws -> (owner: Int64, target: Int64)? {
    var pair: (owner: Int64, target: Int64)?
    try database.forEach(
      "SELECT owner, target FROM stead_sync_links WHERE id = ?1", [.text(id.text)]
    ) { pair = ($0.integer(0), $0.integer(1)) }
    return pair
  }

  func type(of id: RecordID) throws -> String? {
    try database.text("SELECT type FROM stead_sync_links WHERE id = ?1", [.text(id.text)])
  }

  func hasPair(_ type: String, _ owner: Int64, _ target: Int64) throws -> Bool {
    try database.integer(
      "SELECT 1 FROM stead_sync_links WHERE type = ?1 AND owner = ?2 AND target = ?3",
      [.text(type), .integer(owner), .integer(target)]) != nil
  }

  func set(_ id: RecordID, _ type: String, _ owner: Int64, _ target: Int64) throws {
    try database.run(
      "INSERT INTO stead_sync_links VALUES (?1, ?2, ?3, ?4) "
        + "ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, target = excluded.target",
      [.text(id.text), .text(type), .integer(owner), .integer(target)])
  }

  func forget(_ id: RecordID) throws {
    try database.run("DELETE FROM stead_sync_links WHERE id = ?1", [.text(id.text)])
  }
}
