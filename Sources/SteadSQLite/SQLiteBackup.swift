import CSteadSQLite

/// Puts the pages of one database in place of another's, in one transaction of the other.
///
/// Whoever has the destination open sees either its old content or all of the new one, also when this process is
/// killed meanwhile. Both must have pages of one size where the destination has a log. See
/// <https://sqlite.org/c3ref/backup_finish.html>.
package final class SQLiteBackup {
  /// How many pages are copied at once, unless told otherwise: 4 MB of the usual size.
  package static let pageStep: Int32 = 1024

  private let source: SQLiteConnection
  private let destination: SQLiteConnection
  private var handle: OpaquePointer?

  /// - Parameter destination: A connection without an open transaction, which is used for nothing else until the
  ///   backup is finished.
  package init(from source: SQLiteConnection, into destination: SQLiteConnection) throws {
    self.source = source
    self.destination = destination
    handle = sqlite3_backup_init(destination.handle, "main", source.handle, "main")
    guard handle != nil else { throw destination.error() }
  }

  deinit { sqlite3_backup_finish(handle) }

  /// Takes the destination's write lock, which is kept until ``finish()``.
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

  /// Ends the backup, and takes back what was copied when pages are left.
  package func finish() throws {
    let code = sqlite3_backup_finish(handle)
    handle = nil
    guard code == SQLITE_OK else { throw destination.error(code: code) }
  }
}
