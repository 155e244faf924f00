public import Foundation
import SteadFiles

extension ModelContainer {
  /// Checks all stores but custom ones: their pages, tables, indexes, relationships and files.
  ///
  /// ```swift
  /// let check = try container.check()
  /// if !check.isSound { print(check) }
  /// ```
  ///
  /// It finds what a damaged disk, a restored directory or another program may have done: pages that SQLite cannot read,
  /// references to rows that do not exist, members of a relationship without a definite order, rows of no class, missing
  /// indexes and files, and files that no row refers to. It changes nothing. Values of properties are not read, and
  /// full text indexes are not checked.
  ///
  /// Costs a reading of all stores and files; other contexts go on meanwhile. On SQLite before 3.42 the pages of a store are
  /// read without a question about progress in between.
  ///
  /// - Parameter progress: Called in each phase, on this thread; what it throws ends the check.
  /// - Throws: `SwiftDataError`, `CancellationError` when the task is cancelled, and what `progress` throws. What is wrong with
  ///   a store is in the result.
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

  /// Copies the store to a new file, with the files of its large values, while it is in use.
  ///
  /// The copy is a store of its own, as of one commit: no pending changes, and all that was saved before the call. It takes its
  /// name when it is whole and on the disk. Its large values lie beside it, in `.<file>_external`.
  ///
  /// A container with several stores makes a directory instead, with a file `<name>.store` for each configuration. Each of them
  /// is as of one commit, which another commit may separate from the next one's. Custom stores are left out.
  ///
  /// Costs a reading and a writing of all stores and files; saves go on meanwhile. A store in memory is copied, too, and its
  /// saves wait.
  ///
  /// - Parameters:
  ///   - url: The file to make, or the directory. Its parent must exist.
  ///   - progress: Called after each mebibyte and each file, on this thread; what it throws ends the backup, and nothing of
  ///     it is left.
  /// - Throws: `SwiftDataError`, with the code `fileExists` when there is a file, `CancellationError` when the task is
  ///   cancelled, and what `progress` throws.
  public func backUp(
    to url: URL, _ progress: @escaping StoreProgress.Report = { _ in }
  ) throws {
    let reporter = StoreProgressReporter(progress)
    guard url.isFileURL else {
      throw SwiftDataError(.storageFailure, "A backup is a file on a disk; give it a file URL.")
    }
    let path = URL(filePath: url.path).standardized.path
    let stores = ownStores
    guard !stores.isEmpty else {
      throw SwiftDataError(
        .storageFailure,
        "The container has custom stores alone, which no backup is made of. Copy their files.")
    }
    if stores.count == 1 { return try ofBackup { try stores[0].backUp(to: path, reporter) } }
    guard try POSIXDisk().status(at: path) == nil else {
      throw SwiftDataError(
        .fileExists,
        "\(path) exists, and a backup replaces nothing. Name a new directory, or remove it.")
    }
    try ofBackup { try backUp(stores, to: path, reporter) }
  }

  /// The error of a file as one of a backup.
  private func ofBackup(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as FileError {
      throw SwiftDataError(
        .storageFailure,
        "The backup was not made: \(error) Make its directory, and room in it, and make it writable.",
        cause: error)
    }
  }

  private func backUp(
    _ stores: [RecordStore], to path: String, _ reporter: StoreProgressReporter
  ) throws {
    let draft = "\(path.directoryPath)/.\(path.fileName)-\(UUID().uuidString)"
    do {
      try POSIXDisk().makeDirectory(draft, mode: 0o700)
      for store in stores {
        try store.backUp(to: "\(draft)/\(store.configuration.name).store", reporter)
      }
      try POSIXDisk().rename(draft, to: path)
      try POSIXDisk().syncDirectory(path.directoryPath)
    } catch {
      try? FileManager.default.removeItem(atPath: draft)
      throw error
    }
  }

  /// Gives the room that deleted objects have left back to the disk, and returns how many bytes that are.
  ///
  /// The stores are written again without free pages, and files of large values that no row refers to are removed. Objects
  /// and identifiers stay as they are, and contexts go on.
  ///
  /// Costs a reading of all that is stored, and two writings; saves wait, those of other processes at most
  /// 60 seconds. The room for all that is stored is needed once in the store's directory and once in SQLite's
  /// directory for temporary files (`SQLITE_TMPDIR`, `TMPDIR`, `/var/tmp`).
  ///
  /// - Parameter progress: Called again and again, on this thread; what it throws ends the work, and leaves the store as it is.
  /// - Throws: `SwiftDataError`: `storageFull` when there is not enough room, `transactionOpen` within
  ///   `transaction(block:)`, `readOnlyStore`; `CancellationError` when the task is cancelled, and what `progress` throws.
  @discardableResult
  public func compact(_ progress: @escaping StoreProgress.Report = { _ in }) throws -> Int64 {
    let reporter = StoreProgressReporter(progress)
    return try ownStores.reduce(0) { $0 + (try $1.compact(reporter)) }
  }
}
