import CSteadSQLite

/// Replaces a database's pages with those of another, in one transaction.
///
/// Every connection to the destination sees either its old content or all of the new content, even if this
/// process is killed meanwhile. Both must have the same page size if the destination has a log. See
/// <https://sqlite.org/c3ref/backup_finish.html>.
package final class SQLiteBackup {
  /// The default number of pages copied at once: 4 MB at the usual page size.
  package static let pageStep: Int32 = 1024

  private let source: SQLiteConnection
  private let destination: SQLiteConnection
  private var handle: OpaquePointer?

  /// - Parameter destination: A connection without an open transaction, which is used for nothing else until
  ///   the backup is finished.
  package init(from source: SQLiteConnection, into destination: SQLiteConnection) throws {
    self.source = source
    self.destination = destination
    handle = sqlite3_backup_init(destination.handle, "main", source.handle, "main")
    guard handle != nil else { throw destination.error() }
  }

  deinit { sqlite3_backup_finish(handle) }

  /// Takes the destination's write lock, which is held until ``finish()``.
  package func lock() throws { _ = try step(0) }

  /// Copies pages, and returns whether any are left; the step that copies the last ones commits.
  package func step(_ pages: Int32 = pageStep) throws -> Bool {
    switch sqlite3_backup_step(handle, pages) {
    case SQLITE_DONE: return false
    case SQLITE_OK: return true
    case let code: throw destination.error(code: code)
    }
  }

  /// How many pages are left, as of the last step.
  package var remaining: Int { Int(sqlite3_backup_remaining(handle)) }
  /// How many pages the source has, as of the last step.
  package var total: Int { Int(sqlite3_backup_pagecount(handle)) }

  /// Ends the backup, and rolls back what was copied if pages are left.
  package func finish() throws {
    let code = sqlite3_backup_finish(handle)
    handle = nil
    guard code == SQLITE_OK else { throw destination.error(code: code) }
  }
}
