/// A store while its copy is migrated: no other connection may write to it.
final class MigrationSource {
  /// A connection that holds the write lock.
  let connection: StoreConnection
  /// Detects whether other connections have written, which only a separate connection can ask SQLite.
  private let watch: StoreConnection
  private let version: Int64?

  /// Waits for the write lock as a save does.
  init(_ file: StoreFile) throws {
    let hasLog = file.hasLog
    connection = try file.open(writable: true)
    // The last connection to close would checkpoint the log into the file, which must stay as it is.
    if hasLog { connection.keepLog() }
    watch = try file.open(writable: false)
    try connection.beginImmediate()
    version = try watch.integer("PRAGMA data_version")
  }

  /// Lets other connections write.
  func unlock() {
    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
  }

  func isUnchanged() throws -> Bool { try watch.integer("PRAGMA data_version") == version }
}
