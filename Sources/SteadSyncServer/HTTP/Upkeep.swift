#if Server
import Foundation
import ServiceLifecycle
import SteadSQLite
import SteadSyncProtocol

/// Purges old tombstones and sweeps blobs that no record names ("Upkeep" in SyncProtocol.md): at the start and once
/// an hour. Ends when the server does.
struct Upkeep: Service {
  /// The pause between two rounds, in seconds.
  static let interval = 3_600

  let server: SyncServer

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        // If the work fails, it is done an hour later. Requests report the database's errors.
        try? await server.keepUp()
        // Cancelled when the server ends.
        try? await Task.sleep(for: .seconds(Self.interval))
      }
    }
  }
}

extension SyncServer {
  /// The number of zones that are read at once.
  private static let zonesAtOnce: Int64 = 100

  /// Purges and sweeps all zones. Costs a query for each zone, and a transaction if it has something to remove.
  ///
  /// Zones are read in pages by their name, and each zone has its own transactions, so pushes of other zones go on.
  func keepUp() async throws {
    // Pages by name and not by offset: zones may come and go meanwhile.
    var last = ""
    while true {
      let after = last
      let zones = try await engine.read { session in
        try session.rows(
          "SELECT zone FROM zones WHERE zone > $1 ORDER BY zone LIMIT $2",
          [.text(after), .integer(Self.zonesAtOnce)]
        ).map { try $0.text(0) }
      }
      for zone in zones { try await keepUp(zone) }
      guard let end = zones.last else { return }
      last = end
    }
  }

  /// Purges and sweeps a zone if that is due. It asks on a reading connection first: most zones have nothing to
  /// remove, and a writing transaction would hold all other writers up on SQLite.
  ///
  /// Invariant: the row of a blob goes before its file. A crash between them leaves a file without a row.
  private func keepUp(_ zone: String) async throws {
    let (now, schemas) = (clock.now, schemas)
    let isDue = try await engine.read { session in
      guard let tables = try ZoneTables.read(zone, in: session, schemas: schemas) else {
        return false
      }
      return try tables.isUpkeepDue(now: now)
    }
    guard isDue else { return }
    // Purge and sweep decide again under the lock, since the answer may be out of date.
    let swept = try await engine.write(.zone(zone)) { session -> [BlobID] in
      guard let tables = try ZoneTables.locked(zone, in: session, schemas: schemas) else {
        return []
      }
      var state = Zone(tables)
      try state.purge(now: now)
      let swept = try state.sweep(now: now)
      try tables.flush()
      return swept
    }
    for blob in swept { try await removeFile(of: blob, zone) }
  }

  /// Removes the file of a swept blob, unless the blob was sent again.
  ///
  /// It holds the zone's lock, as does ``record(_:size:)`` at the end of an upload, which checks for the file again.
  /// Otherwise an upload between the check and the removal would have a row and no file.
  private func removeFile(of blob: BlobID, _ zone: String) async throws {
    let (blobs, schemas) = (blobs, schemas)
    try await engine.write(.zone(zone)) { session in
      let tables = try ZoneTables.locked(zone, in: session, schemas: schemas)
      // The blob was sent again, so its file stays.
      guard try tables?.hasBlob(blob) != true else { return }
      blobs.remove(BlobStore.Name(zone: zone, sha256: blob.text))
    }
  }
}

extension ZoneTables {
  /// Whether the zone has tombstones to purge or blobs to sweep.
  fileprivate func isUpkeepDue(now: Int64) throws -> Bool {
    let limits = SyncLimits()
    if let mark = try mark(before: now - limits.tombstoneAge), mark.head > row.state.purged {
      return true
    }
    let old = try session.row(
      """
      SELECT 1 FROM blobs WHERE zone = $1 AND touched < $2 AND NOT EXISTS (
        SELECT 1 FROM blob_refs r WHERE r.zone = blobs.zone AND r.sha256 = blobs.sha256)
      LIMIT 1
      """, [zone, .integer(now - limits.blobGrace)])
    return old != nil
  }
}

extension SyncServer {
  /// Copies a server's data into a new directory while the server runs, in this or another process.
  ///
  /// It copies one state of the database, then the blobs and the keys. The blobs that records name are complete,
  /// because a blob is stored before its record, and is swept no earlier than 24 hours after the last record that
  /// named it. Only those of a zone that is deleted meanwhile may be missing. Blocks for the time to read and write
  /// all data.
  ///
  /// - Throws: ``ServerError`` for a PostgreSQL database, which has its own tools, if the database doesn't exist,
  ///   and if the directory exists; ``EngineError`` or an error of Foundation if copying fails.
  package static func backUp(_ settings: ServerSettings, to directory: String) throws {
    guard case .sqlite(let path) = settings.location else {
      throw ServerError(
        .conflict, "The database is PostgreSQL's.",
        remedy: "Use pg_dump, and copy the data directory after it.")
    }
    let files = FileManager.default
    guard files.fileExists(atPath: path) else {
      throw ServerError(
        .notFound, "The data directory has no database.", remedy: "Check --data.")
    }
    guard !files.fileExists(atPath: directory) else {
      throw ServerError(
        .conflict, "The directory for the copy exists.", remedy: "Name a new one.")
    }
    try ServerFolder.make(directory)
    try SQLiteSession(path: path, writes: true).copy(to: directory + "/stead.sqlite")
    // After the database: the bytes of a blob were there before a record named it.
    for name in ["blobs", "signing-keys.json"] {
      let source = "\(settings.directory)/\(name)"
      if files.fileExists(atPath: source) {
        try files.copyItem(atPath: source, toPath: "\(directory)/\(name)")
      }
    }
  }
}
#endif
