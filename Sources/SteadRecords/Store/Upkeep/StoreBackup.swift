import Foundation
import SteadFiles
import SteadSQLite

/// A copy of a store as it was before a migration that drops or converts data.
struct StoreBackup {
  /// The largest store that is copied, in bytes.
  static let sizeLimit: Int64 = 1 << 30
  /// The suffix of the backup's name, after the store's.
  static let suffix = ".backup"

  /// The store that is migrated.
  let file: StoreFile

  /// The copy with a suffix, beside the store.
  private func copy(_ suffix: String) -> StoreCopy {
    let path = file.configuration.url.path + suffix
    return StoreCopy(
      of: file.configuration, at: URL(filePath: path, directoryHint: .notDirectory))
  }

  /// The copy that is being made. It replaces the earlier backup only when it is complete.
  var draft: StoreCopy { copy(Self.suffix + "-new") }

  /// Removes the backup and what is left of an unfinished one.
  func remove() throws {
    try copy(Self.suffix).remove()
    try draft.remove()
  }

  /// Copies what is committed, replacing the backup of the previous migration; nil for a store in memory, and for one
  /// that is too large, which is reported.
  ///
  /// Costs reading and writing the whole store. Only its owner may read the copy.
  ///
  /// - Parameter check: Throws if the store that is migrated isn't the one at its path.
  func make(
    check: () throws -> Void, report: (Int, Int) throws -> Void = { _, _ in }
  ) throws -> URL? {
    guard try isWanted() else { return nil }
    try check()
    try copy(Self.suffix).checkDirectory()
    let new = draft
    do {
      try new.make(from: file, report: report)
      try new.becomeBackup()
      // What was copied, and the large values in particular, may be another store's.
      try check()
      return try replaceBackup(by: new)
    } catch let error where !(error is CancellationError) {
      // A cancellation is passed on as it is: it says nothing about the disk.
      try? new.remove()
      // Of a store that was replaced, that is the error to throw.
      try check()
      throw SwiftDataError(
        .storageFailure,
        "The store could not be copied before its migration, and was left as it was. Make room for a copy of it in "
          + "\(file.configuration.url.deletingLastPathComponent().path).", cause: error)
    }
  }

  /// Whether the store is on file, and small enough; one that is too large is reported.
  private func isWanted() throws -> Bool {
    guard !file.configuration.isStoredInMemoryOnly else { return false }
    let store = file.configuration.url
    let size = try POSIXDisk().status(at: store.path)?.size ?? 0
    if size <= Self.sizeLimit { return true }
    Report.problem(
      .recordsFailed, subject: store.lastPathComponent,
      message:
        "The store is larger than \(Self.sizeLimit) bytes, so it was migrated without a backup. Copy it before "
        + "the app is updated if its data must not be lost.")
    return false
  }

  /// Replaces the existing backup with a new copy.
  private func replaceBackup(by new: StoreCopy) throws -> URL {
    let backup = copy(Self.suffix)
    let blobs = BlobLinks(source: new.file.blobDirectory, target: backup.file.blobDirectory)
    let before = BlobLinks.names(in: backup.file.blobDirectory)
    // New values, then the file, then old values: whenever the process is killed, the backup has all values it refers to.
    try blobs.add()
    let url = backup.file.configuration.url
    // A program that opened the old backup and was killed has left a log, which would not belong to the new one.
    for suffix in ["-wal", "-shm", "-journal"] {
      let path = url.path + suffix
      if FileManager.default.fileExists(atPath: path) {
        try FileManager.default.removeItem(atPath: path)
      }
    }
    try POSIXDisk().rename(new.file.configuration.url.path, to: url.path)
    try blobs.remove(before)
    try new.remove()
    return url
  }
}

// MARK: - Large values

/// Copies the files of large values to a backup, while the store is in use.
struct BackupFiles {
  /// How often a missing file is tried. The rows are read again in between: the row that has referred to it may be gone.
  static let attemptLimit = 2

  /// The files of the store.
  private let source: BlobFiles
  /// The directory of the backup's files.
  private let target: BlobStore
  /// Whether the backup has made the directory.
  private let isNewDirectory: Bool
  /// The files that this backup has copied.
  private var copied: Set<String> = []
  /// Files that existed before.
  private let others: Set<String>
  /// How often each missing file was tried.
  private var attempts: [String: Int] = [:]

  /// Prepares the copying, and writes nothing yet.
  init(from source: BlobFiles, to directory: URL) throws {
    self.source = source
    target = BlobStore(directory: directory)
    isNewDirectory = try POSIXDisk().status(at: directory.path) == nil
    others = try target.references()
  }

  /// Which of the files that rows refer to are still to be copied.
  func missing(of references: some Collection<String>) -> [String] {
    references.filter { !copied.contains($0) && attempts[$0, default: 0] < Self.attemptLimit }
  }

  /// Copies files; one that no longer exists is left out.
  mutating func copy(_ references: [String], _ progress: StoreProgressReporter) throws {
    for (index, reference) in references.enumerated() {
      try progress.send(.copyingFiles, index, of: references.count)
      do {
        _ = try target.write(source.read(reference))
        copied.insert(reference)
      } catch let error as FileError
        where [.notFound, .damaged, .invalidName].contains(error.code)
      {
        // Its row may be gone by now, which the next snapshot shows.
        attempts[reference, default: 0] += 1
      }
    }
    try progress.send(.copyingFiles, references.count, of: references.count)
  }

  /// Ends the copying: files that no row of the backup refers to are removed, and those that the store lacks are reported.
  func finish(_ references: Set<String>, store: String) throws {
    // What was in the directory before isn't this backup's.
    for reference in copied where !references.contains(reference) && !others.contains(reference) {
      try target.remove(reference)
    }
    let lost = references.subtracting(copied).count
    guard lost > 0 else { return }
    Report.problem(
      .externalFileFailed, subject: store,
      message:
        "The backup lacks the files of \(lost) large values, which the store does not have, or not as they were "
        + "written. `check()` names the rows.")
  }

  /// Removes the copied files.
  func remove() {
    if isNewDirectory {
      try? FileManager.default.removeItem(at: target.directory)
    } else {
      for reference in copied where !others.contains(reference) { try? target.remove(reference) }
    }
  }
}

// MARK: - Backups that the program asks for

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
