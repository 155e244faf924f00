import Foundation
import SteadSQLite
import SteadSync
import SteadTestSupport
import SwiftData
import SyncTestSupport
import Testing

/// The tables of a synced store, across versions of their format.
@Suite(.hangLimit) struct SyncTablesTests {
  /// The tables of records as format 1 had them.
  private static let older = ["base", "staged"].map { name in
    """
    CREATE TABLE copy AS SELECT * FROM stead_sync_\(name);
    DROP TABLE stead_sync_\(name);
    CREATE TABLE stead_sync_\(name) (id TEXT PRIMARY KEY, type TEXT NOT NULL, seq INTEGER NOT NULL,
    live INTEGER NOT NULL, content TEXT NOT NULL) WITHOUT ROWID;
    INSERT INTO stead_sync_\(name) SELECT id, 'Note', seq, live, content FROM copy;
    DROP TABLE copy;
    """
  }

  private static let olderIndexes = """
    CREATE INDEX stead_sync_base_seq ON stead_sync_base (seq);
    CREATE INDEX stead_sync_base_type ON stead_sync_base (type);
    UPDATE stead_sync SET value = 1 WHERE key = 'format';
    """

  @Test func `tables of format one are brought to the present one`() async throws {
    let directory = try TemporaryDirectory()
    let server = LocalSyncServer()
    let far = try Device(server)
    for number in 0..<20 { far.context.insert(Note("note \(number)")) }
    try far.context.save()
    try await far.engine.syncNow()
    try await makeOlderStore(in: directory.url, server)
    try #require(try far.note("note 3")).text = "edited far away"
    far.context.delete(try #require(try far.note("note 4")))
    try far.context.save()
    try await far.engine.syncNow()
    let device = try Device(server, in: directory.url)
    try #require(try device.note("note 5")).text = "edited here"
    try device.context.save()
    try await device.engine.syncNow()
    try await far.engine.syncNow()
    #expect(try device.content == far.content)
    #expect(try device.note("note 3")?.text == "edited far away")
    #expect(try far.content.count == 19)
    #expect(try await device.engine.conflicts().isEmpty)
    let connection = try connection(in: directory.url)
    #expect(
      try connection.integer("SELECT CAST(value AS INTEGER) FROM stead_sync WHERE key = 'format'")
        == 2)
    #expect(
      try connection.integer(
        "SELECT count(*) FROM pragma_table_info('stead_sync_base') WHERE name = 'type'") == 0)
  }

  /// A store that was synced by a version with format 1. A view of it is broken, which SQLite minds if a table is
  /// renamed.
  private func makeOlderStore(in folder: URL, _ server: LocalSyncServer) async throws {
    let device = try Device(server, in: folder)
    try await device.engine.syncNow()
    let connection = try connection(in: folder)
    for sql in Self.older { try connection.execute(sql) }
    try connection.execute(Self.olderIndexes)
    try connection.execute("CREATE VIEW broken AS SELECT missing FROM nowhere")
  }

  private func connection(in folder: URL) throws -> SQLiteConnection {
    try SQLiteConnection(SQLiteOptions(.file(folder.appending(path: "shelf.store").path)))
  }
}
