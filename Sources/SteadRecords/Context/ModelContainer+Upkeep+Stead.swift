public import Foundation
import SteadFiles

extension ModelContainer {
  /// Checks all stores except custom ones: their pages, tables, indexes, relationships and files.
  ///
  /// ```swift
  /// let check = try container.check()
  /// if !check.isSound { print(check) }
  /// ```
  ///
  /// It finds what a damaged disk, a restored directory or another program may have done: pages that SQLite cannot
  /// read, references to rows that do not exist, members of a relationship without a definite order, rows of unknown
  /// classes, and missing indexes and files. It also finds files that no row refers to, as a process that was killed
  /// leaves them: these are no damage, and ``StoreCheck/isSound`` stays true. It changes nothing. It checks neither
  /// property values nor full-text indexes.
  ///
  /// Costs a read of all stores and files; other contexts keep working. Before SQLite 3.42, `progress` is not called
  /// while the pages of a store are read.
  ///
  /// - Parameter progress: Called in each phase, on this thread; an error that it throws ends the check.
  /// - Returns: The problems, each with its place and remedy, and the number of rows. Damage to a store is a problem in
  ///   the result and not an error.
  /// - Throws: `SwiftDataError` if a store cannot be opened for reading, `CancellationError` if the task is cancelled,
  ///   and what `progress` throws.
  public func check(_ progress: @escaping StoreProgress.Report = { _ in }) throws -> StoreCheck {
    let reporter = StoreProgressReporter(progress)
    var result = StoreCheck()
    for store in ownStores {
      let found = try store.check(reporter)
      result.problems += found.problems
      result.rowCounts.merge(found.rowCounts) { $0 + $1 }
    }
    return result
  }

  /// Copies the store, with the files of its large values, to a new file while it is in use.
  ///
  /// The copy is a separate store, as of one commit: it has everything saved before the call and no pending changes. It
  /// gets its name once it is complete and on disk. Its large values are in the directory `.<file>_external` next to
  /// it.
  ///
  /// A container with several stores makes a directory instead, with a file `<name>.store` for each configuration. Each
  /// file is as of one commit; other commits may happen between the copies. Custom stores are left out.
  ///
  /// ```swift
  /// try container.backUp(to: URL(filePath: "/backups/trips-\(day).store"))
  /// ```
  ///
  /// To use the copy, open it with a ``ModelConfiguration`` of its URL. Don't copy a store's file with other tools
  /// while a program has it open: the newest saves are in its log.
  ///
  /// Costs a read and a write of all stores and files; saves continue meanwhile. A store in memory is copied, too, and
  /// its saves wait.
  ///
  /// - Parameters:
  ///   - url: The file or directory to create. Its parent must exist.
  ///   - progress: Called after each mebibyte and each file, on this thread; an error that it throws ends the backup
  ///     and removes its files.
  /// - Throws: ``SwiftDataError/fileExists`` if the file exists; ``SwiftDataError/storageFull`` if there is too little
  ///   space; ``SwiftDataError/storageFailure`` if the parent is missing or may not be written, for a URL that is no
  ///   file's, and for a container with custom stores only; `CancellationError` if the task is cancelled, and what
  ///   `progress` throws. No new file is left at `url` then.
  public func backUp(
    to url: URL, _ progress: @escaping StoreProgress.Report = { _ in }
  ) throws {
    let reporter = StoreProgressReporter(progress)
    guard url.isFileURL else {
      throw SwiftDataError(.storageFailure, "A backup is a file on disk; pass a file URL.")
    }
    let path = URL(filePath: url.path).standardized.path
    let stores = ownStores
    // A mirror has only what was fetched, which is no backup of the custom store.
    guard !stores.isEmpty else {
      throw SwiftDataError(
        .storageFailure,
        "The container only has custom stores, which a backup leaves out. Copy their files.")
    }
    // The backup of a single store is a file at the path, not a directory. It refuses a path that exists.
    if stores.count == 1 { return try ofBackup { try stores[0].backUp(to: path, reporter) } }
    guard try POSIXDisk().status(at: path) == nil else {
      throw SwiftDataError(
        .fileExists,
        "\(path) exists, and a backup does not replace files. Name a new directory, or remove it.")
    }
    try ofBackup { try backUp(stores, to: path, reporter) }
  }

  /// Wraps an error of a file operation in an error of the backup.
  private func ofBackup(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as FileError where error.code == .noSpace {
      throw SwiftDataError.ofFullDisk(error)
    } catch let error as FileError {
      throw SwiftDataError(
        .storageFailure,
        "The backup was not made: \(error) Its directory must exist and be writable.",
        cause: error)
    }
  }

  private func backUp(
    _ stores: [RecordStore], to path: String, _ reporter: StoreProgressReporter
  ) throws {
    // Beside its destination, since a rename works within one file system only.
    let draft = "\(path.directoryPath)/.\(path.fileName)-\(UUID().uuidString)"
    do {
      try POSIXDisk().makeDirectory(draft, mode: 0o700)
      for store in stores {
        try store.backUp(to: "\(draft)/\(store.configuration.name).store", reporter)
      }
      // One rename, so that a directory of that name has all stores or does not exist. It is durable only once its
      // parent is synced.
      try POSIXDisk().rename(draft, to: path)
      try POSIXDisk().syncDirectory(path.directoryPath)
    } catch {
      try? FileManager.default.removeItem(atPath: draft)
      throw error
    }
  }

  /// Returns the space that deleted objects have left to the disk; the result is its size in bytes.
  ///
  /// The stores are rewritten without free pages, and files of large values that no row refers to are removed. Objects
  /// and identifiers stay as they are, and contexts keep working.
  ///
  /// Costs a read and two writes of all stored data; saves wait, those of other processes at most 60 seconds. It
  /// temporarily needs as much space as the stores take, once in the store's directory and once in SQLite's directory
  /// for temporary files (`SQLITE_TMPDIR`, `TMPDIR`, `/var/tmp`).
  ///
  /// - Parameter progress: Called repeatedly, on this thread; an error that it throws ends the work and leaves the
  ///   store as it is.
  /// - Throws: `SwiftDataError`: `storageFull` if there is too little space, `transactionOpen` within
  ///   `transaction(block:)`, `readOnlyStore`; `CancellationError` if the task is cancelled, and what `progress`
  ///   throws.
  @discardableResult
  public func compact(_ progress: @escaping StoreProgress.Report = { _ in }) throws -> Int64 {
    let reporter = StoreProgressReporter(progress)
    return try ownStores.reduce(0) { $0 + (try $1.compact(reporter)) }
  }
}
