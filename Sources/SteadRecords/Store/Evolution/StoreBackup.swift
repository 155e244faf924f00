import Foundation
import SteadFiles

/// A copy of a store as it was before a migration that drops or converts data.
struct StoreBackup {
  /// The largest store that is copied, in bytes.
  static let sizeLimit: Int64 = 1 << 30
  /// What follows the store's name in the name of its backup.
  static let suffix = ".backup"

  let file: StoreFile

  private var url: URL {
    URL(filePath: file.configuration.url.path + Self.suffix, directoryHint: .notDirectory)
  }

  func remove() throws {
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    try FileManager.default.removeItem(at: url)
  }

  /// Copies what is committed, instead of the backup of the migration before; nil for a store in memory, and
  /// for one that is too large, which is reported.
  ///
  /// Costs a reading and a writing of the whole store. The copy has no free pages, and is its owner's alone.
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
    let new = url.path + "-new"
    try? FileManager.default.removeItem(atPath: new)
    do {
      // The transaction that holds the lock cannot copy.
      try file.open(writable: true).copy(to: new)
      try POSIXDisk().rename(new, to: url.path)
    } catch {
      try? FileManager.default.removeItem(atPath: new)
      throw SwiftDataError(
        .storageFailure,
        "The store could not be copied before its migration, and was left as it was. Make room for a copy of it in "
          + "\(store.deletingLastPathComponent().path).", cause: error)
    }
    return url
  }
}
