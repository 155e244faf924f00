import Foundation

/// A copy of a store as it was before a migration that drops or converts data.
struct StoreBackup {
  /// The largest store that is copied, in bytes.
  static let sizeLimit: Int64 = 1 << 30
  /// What follows the store's name in the name of its backup.
  static let suffix = ".backup"
  /// What follows it in the name of the copy that a migration plan puts back when a stage fails.
  static let planSuffix = ".before-migration"

  let file: StoreFile

  /// Copies what is committed, instead of the backup of the migration before; nil for a store in memory, and
  /// for one that is too large, which is reported.
  ///
  /// Costs a reading and a writing of the whole store. Files of large values are linked, and the copy is its owner's alone.
  func make(from connection: StoreConnection) throws -> URL? {
    guard !file.configuration.isStoredInMemoryOnly else { return nil }
    let store = file.configuration.url
    let size =
      (try connection.integer("PRAGMA page_count") ?? 0)
      * (try connection.integer("PRAGMA page_size") ?? 0)
    guard size <= Self.sizeLimit else {
      Report.problem(
        .recordsFailed, subject: store.lastPathComponent,
        message:
          "The store is larger than \(Self.sizeLimit) bytes, so it was migrated without a backup. Copy it before "
          + "the app is updated where its data must not be lost.")
      return nil
    }
    let copy = StoreCopy(path: store.path + Self.suffix)
    do {
      // The connection that holds the lock keeps to its transaction.
      try copy.write(from: file.open(writable: true), isReplacing: true)
      try copy.linkFiles(of: file)
    } catch {
      throw SwiftDataError(
        .storageFailure,
        "The store could not be copied before its migration, and was left as it was. Make room for a copy of it in "
          + "\(store.deletingLastPathComponent().path).", cause: error)
    }
    return URL(filePath: copy.path, directoryHint: .notDirectory)
  }
}
