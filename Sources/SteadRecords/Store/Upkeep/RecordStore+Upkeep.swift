import Foundation
import SteadFiles
import SteadSQLite

extension RecordStore {
  /// How long a compaction or an erasure waits for readers whose snapshots keep the log from being emptied, in seconds.
  static let readerTimeout = 5

  /// Checks the store, and changes nothing.
  func check(_ progress: StoreProgressReporter) throws -> StoreCheck {
    guard !configuration.isStoredInMemoryOnly else {
      return try read(.newest) { connection, _ in
        var inspection = StoreInspection(self, connection, progress)
        return try inspection.run()
      }
    }
    // A separate connection: the checks are long, and the pool's connections are for short reads.
    let connection = try file.open(writable: false)
    try connection.begin()
    defer { try? connection.execute("ROLLBACK") }
    var inspection = StoreInspection(self, connection, progress)
    return try inspection.run()
  }

  /// Runs a body while no process writes, if this store may be written.
  func settled<Result>(_ body: (StoreConnection) throws -> Result) throws -> Result {
    if configuration.allowsSave { return try writer.maintain(body) }
    // A store that may not be written has no lock to take.
    return try read(.newest) { connection, _ in try body(connection) }
  }

  // MARK: Room

  /// Removes free pages and files that no row refers to, and returns how many bytes that has freed.
  ///
  /// Costs reading and writing the whole store. Saves wait meanwhile.
  ///
  /// - Throws: `transactionOpen` within a transaction of this thread, `readOnlyStore`,
  ///   `storageFull` if there is no room for the two copies that SQLite makes, and
  ///   `storageFailure`.
  func compact(_ progress: StoreProgressReporter) throws -> Int64 {
    try writer.alone { connection in
      try compact(connection, progress)
    }
  }

  /// Removes unused files and free pages, while no thread of this process has a transaction open.
  ///
  /// VACUUM runs on a connection of its own, whose temporary data is in a file. SQLite keeps other processes from
  /// writing meanwhile.
  private func compact(
    _ writer: StoreConnection, _ progress: StoreProgressReporter
  ) throws -> Int64 {
    do {
      let before = try size(writer)
      try removeUnusedFiles(progress, keepsHeld: true)
      try progress.send(.compacting, 0, of: nil)
      let question = { try progress.send(.compacting, 0, of: nil) }
      if configuration.isStoredInMemoryOnly {
        try vacuum(writer, question)
      } else {
        // SQLite would find out late, after it has filled the disk.
        try checkRoom(writer)
        let connection = try file.open(writable: true)
        // VACUUM copies the whole store, which may not fit in memory.
        try connection.execute("PRAGMA temp_store = FILE")
        try vacuum(connection, question)
        try emptyLog(connection)
      }
      // Other processes may have written meanwhile.
      return max(0, before - (try size(writer)))
    } catch let error as FileError where error.code == .noSpace {
      throw SwiftDataError.ofFullDisk(error)
    } catch let error as FileError {
      throw SwiftDataError(
        .storageFailure,
        "The store could not be compacted: \(error) Make its directory readable and writable.",
        cause: error)
    }
  }

  /// Writes the file again without free pages.
  ///
  /// SQLite counts it as a change of the tables, which they are not: the digest of the models goes with the new number.
  private func vacuum(
    _ connection: StoreConnection, _ question: () throws -> Void = {}
  ) throws {
    let old = try connection.integer("PRAGMA schema_version") ?? 0
    try connection.interruptibly(question) { try connection.execute("VACUUM") }
    let new = try connection.integer("PRAGMA schema_version") ?? 0
    try connection.run(
      // Only where the digest was recorded with the old number. A store that has to be prepared
      // again keeps a number that does not match.
      "UPDATE stead_metadata SET value = ?1 || substr(value, length(?2) + 1) "
        + "WHERE key = 'tables' AND substr(value, 1, length(?2)) = ?2",
      [.text("\(new) "), .text("\(old) ")])
  }

  /// Checkpoints the log into the file, and truncates it.
  private func emptyLog(_ connection: StoreConnection) throws {
    // Snapshots end by a timer otherwise, which comes late if the process has more threads to run than processors.
    OpenStores.endSnapshots(of: log)
    let isEmpty = try connection.checkpoint(
      .emptying, busyTimeout: Int32(Self.readerTimeout) * 1000)
    // A log beside another file is left alone, which needs no report.
    guard !isEmpty, !connection.hasMoved else { return }
    Report.problem(
      .recordsFailed, subject: configuration.url.lastPathComponent,
      message:
        "A reader has kept the store's log for \(Self.readerTimeout) seconds, so it was not emptied. It will be as soon "
        + "as no reader needs an old state.")
  }

  /// Removes the files that no row refers to. References are read under the write lock, since a save writes files
  /// before their rows.
  private func removeUnusedFiles(_ progress: StoreProgressReporter, keepsHeld: Bool) throws {
    guard let blobs else { return }
    try progress.send(.checkingFiles, 0, of: nil)
    let references = ExternalReferences(self)
    try writer.maintain { connection in
      // Files are written before their rows, under the same lock.
      let used = try references.readAll(connection)
      // After a move, the directory at the path may be another store's.
      try writer.checkPlace()
      try blobs.sweep(keeping: used, keepsHeld: keepsHeld)
    }
  }

  /// The bytes of the store and its files.
  private func size(_ connection: StoreConnection) throws -> Int64 {
    guard !configuration.isStoredInMemoryOnly else {
      return (try connection.integer("PRAGMA page_count") ?? 0)
        * (try connection.integer("PRAGMA page_size") ?? 0)
    }
    let disk = POSIXDisk()
    let path = configuration.url.path
    // The log counts, too, since a compaction empties it.
    let files = try ["", "-wal"].reduce(Int64(0)) {
      $0 + (try disk.statusFollowingLinks(path + $1)?.size ?? 0)
    }
    return files + (try blobs?.size() ?? 0)
  }

  /// SQLite writes the pages in use twice before it removes any: to a temporary file, and to the log.
  private func checkRoom(_ connection: StoreConnection) throws {
    let pages =
      (try connection.integer("PRAGMA page_count") ?? 0)
      - (try connection.integer("PRAGMA freelist_count") ?? 0)
    let needed = pages * (try connection.integer("PRAGMA page_size") ?? 0)
    let disk = POSIXDisk()
    let directories = [
      configuration.url.deletingLastPathComponent().path, SQLiteFile.temporaryDirectory,
    ]
    let devices = try directories.map { try disk.statusFollowingLinks($0)?.identity.device }
    for (directory, device) in zip(directories, devices) {
      // Both may be on one file system.
      let shared = needed * Int64(devices.count { $0 == device })
      let free = try disk.freeBytes(at: directory)
      guard free < shared else { continue }
      throw SwiftDataError(
        .storageFull,
        "Compacting needs \(shared) bytes in \(directory), where \(free) are free. The store was left as it is; free space."
      )
    }
  }

  // MARK: Erasing

  /// Removes every row and file of the store. The store itself remains, empty, since others may have it open.
  ///
  /// Waits for saves of all processes, and up to ``readerTimeout`` for readers of older states.
  ///
  /// - Throws: `transactionOpen` within a transaction of this thread, `readOnlyStore`, and SQLite's
  ///   errors.
  func erase() throws {
    try writer.alone { connection in
      try write { connection in try deleteRows(connection) }
      // Registered objects no longer have rows anywhere, and `write` has announced that.
      guard !configuration.isStoredInMemoryOnly else { return }
      // With those that undo or an unread value still refers to: nothing may stay on the disk.
      try removeUnusedFiles(StoreProgressReporter { _ in }, keepsHeld: false)
      file.removeEmptyBlobDirectory()
      // A backup has the objects, too.
      try StoreBackup(file: file).remove()
      // A process that was killed may have left them.
      for suffix in [StoreCopy.migrationSuffix, StoreCopy.dryRunSuffix] {
        try StoreCopy(path: configuration.url.path + suffix).remove()
      }
      // Free pages still have what was deleted.
      try vacuum(connection)
      // The log has what the file had before.
      try emptyLog(connection)
    }
  }

  /// Deletes all rows, and what has copies of their values: full-text indexes, receipts, the tables of a sync, the
  /// history and earlier versions.
  ///
  /// Numbers of rows stay retired, and the tokens of the history expire.
  private func deleteRows(_ connection: StoreConnection) throws {
    for table in tables {
      try connection.retiringNumbers(of: table.name) {
        try connection.execute("DELETE FROM \(table.name.sqlName)")
      }
    }
    for entity in layout.entities where plans[entity.index] != nil {
      for index in entity.joined {
        guard let join = entity.properties[index].joinTable else { continue }
        try connection.retiringNumbers(of: join.name) {
          try connection.execute("DELETE FROM \(join.name.sqlName)")
        }
      }
      // A full-text index only marks entries as deleted, and keeps the words.
      if !entity.searchable.isEmpty { try SearchTable(entity: entity).empty(on: connection) }
    }
    // Data that was moved here is no longer here.
    for table in ReceiptTable.names {
      try connection.execute("DROP TABLE IF EXISTS \(table.sqlName)")
    }
    // Copies of the rows' values; a sync starts again, and the objects stay on other devices.
    let synced = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 10) = 'stead_sync'")
    for case .text(let name) in synced.map({ $0[0] }) {
      try connection.execute("DROP TABLE \(name.sqlName)")
    }
    let removal = HistoryRemoval(connection: connection)
    try removal.removeAll()
    // The newest token expires, too: whoever has it must learn that the objects are gone.
    try removal.record(writer.number + 1)
    // What this transaction has deleted must be gone, too.
    try RowVersions(connection: connection).remove(upTo: connection.lastCommit().number + 1)
  }
}
