import Foundation
import SteadFiles
import SteadSQLite

extension RecordStore {
  /// How often the rows are read again because files of large values have come or gone while others were copied.
  static let snapshotLimit = 100

  /// Copies the store, as of one commit, to a file that does not exist yet.
  ///
  /// Others may read and write meanwhile. Costs reading and writing all pages, and all files that
  /// rows refer to.
  ///
  /// - Throws: `fileExists` if something has the path, `unreadableStore` if the store's file was
  ///   replaced, and errors of the disk. What was copied is removed then.
  func backUp(to path: String, _ progress: StoreProgressReporter) throws {
    guard try POSIXDisk().status(at: path) == nil else {
      throw SwiftDataError(
        .fileExists,
        "\(path) exists, and a backup does not replace files. Name a new file, or remove it.")
    }
    // Before a log is made beside another store.
    try writer.checkPlace()
    let copy = StoreCopy(path: path)
    try copy.checkDirectory()
    guard let blobs else {
      return try read(.newest) { connection, _ in try write(copy, from: connection, progress) }
    }
    var files = try BackupFiles(from: blobs, to: copy.file.blobDirectory)
    do {
      try backUp(to: copy, &files, progress)
    } catch {
      files.remove()
      throw error
    }
  }

  /// Copies the rows that one snapshot has, and the files that they refer to.
  ///
  /// Files are copied before the snapshot is: a save may remove a file once its row is gone. So the rows are read,
  /// the missing files are copied, and the rows are read again in a new snapshot, until that refers to copied files
  /// alone.
  private func backUp(
    to copy: StoreCopy, _ files: inout BackupFiles, _ progress: StoreProgressReporter
  ) throws {
    // A connection of its own: one of the pool would be lent for as long as files are copied.
    let connection = try file.open(writable: false)
    // It reads the store that was at the path when it was opened.
    try writer.checkPlace()
    let references = ExternalReferences(self)
    var used: Set<String> = []
    for attempt in 1...Self.snapshotLimit {
      try connection.begin()
      used = try connection.interruptibly({ try Task.checkCancellation() }) {
        try references.readAll(connection)
      }
      let missing = files.missing(of: used)
      if missing.isEmpty { break }
      // A snapshot that is kept for long keeps the log from being reset. So the rows are read again afterwards.
      if attempt < Self.snapshotLimit { try connection.execute("ROLLBACK") }
      try files.copy(missing, progress)
    }
    // In the snapshot that is still open: every file that it refers to is copied, or is gone from
    // the store.
    try write(copy, from: connection, progress)
    try connection.execute("ROLLBACK")
    try files.finish(used, store: configuration.url.lastPathComponent)
  }

  /// Writes the pages that a connection sees.
  private func write(
    _ copy: StoreCopy, from connection: StoreConnection, _ progress: StoreProgressReporter
  ) throws {
    try copy.write(from: connection) {
      try progress.send(.copyingPages, $0, of: $1)
    }
  }
}

// MARK: - Files of large values

extension RecordStore {
  /// Removes files of external storage that rows have stopped referring to, where no other row refers to them.
  func removeFiles(_ references: some Sequence<String>) {
    blobs?.uses.drop(references)
    removeDroppedFiles()
  }

  /// Removes the dropped files that no row refers to; under the write lock, since another process may be about to refer
  /// to the same content.
  ///
  /// Does nothing within a transaction, which may yet be taken back; its end calls this again.
  func removeDroppedFiles() {
    guard let blobs, configuration.allowsSave, !writer.isWritingHere else { return }
    let references = blobs.uses.removable
    if references.isEmpty { return }
    do {
      try writer.maintain { connection in
        // An old row refers to them.
        let keepsAll = try RowVersions(connection: connection).start() != nil
        let unused =
          keepsAll ? [] : try ExternalReferences(self).unused(among: references, connection)
        for reference in references {
          if unused.contains(reference) {
            try blobs.remove(reference)
          } else {
            blobs.uses.keep(reference)
          }
        }
      }
    } catch {
      // Off the queue, so that the same error is not reported after each save.
      for reference in references { blobs.uses.keep(reference) }
      // A reference is what a column held: another program may have written any text there.
      Report.problem(
        .externalFileFailed, subject: configuration.url.lastPathComponent,
        message: "An unused file was not removed. It only takes up space; compact() removes it.",
        cause: error)
    }
  }
}
