/// A store while its copy is migrated: nobody else may write to it.
final class MigrationSource {
  /// A connection that holds the write lock.
  let connection: StoreConnection
  /// Sees whether others have written, which a connection of its own has to ask for.
  private let watch: StoreConnection
  private let version: Int64?

  /// Waits for the write lock as a save does.
  init(_ file: StoreFile) throws {
    let hasLog = file.hasLog
    connection = try file.open(writable: true)
    // The last connection to end would put the log's pages into the file, which is to stay as it is.
    if hasLog { connection.keepLog() }
    watch = try file.open(writable: false)
    try connection.beginImmediate()
    version = try watch.integer("PRAGMA data_version")
  }

  /// Lets others write.
  func unlock() {
    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
  }

  func isUnchanged() throws -> Bool { try watch.integer("PRAGMA data_version") == version }
}
