import CSteadSQLite
import Foundation

extension SQLiteConnection {
  /// How many pages are copied between two reports: 1 MiB of the usual pages.
  package static let pagesPerReport: Int32 = 256

  /// Writes what the database holds now into a file that is empty or does not exist yet, and that its owner alone may
  /// read. It is on the disk when this returns.
  ///
  /// What it copies is what the open transaction sees, or else the last commit. Costs a reading and a writing of all
  /// pages. Others may read and write meanwhile.
  ///
  /// - Parameter progress: Called with the numbers of copied pages and of all; what it throws ends the copying, and
  ///   leaves a file that is no database.
  package func copy(
    to path: String, _ progress: (_ copied: Int, _ total: Int) throws -> Void = { _, _ in }
  ) throws {
    SQLiteFile.makePrivate(at: path)
    var status = stat()
    guard stat(path, &status) != 0 || status.st_size == 0 else {
      throw failure(
        SQLiteError(code: SQLITE_CANTOPEN, message: "the copy would replace a file"))
    }
    var options = SQLiteOptions(.file(path))
    options.failure = failure
    let target = try SQLiteConnection(options)
    // A copy that is not finished is thrown away, so nothing has to be rolled back.
    try target.execute("PRAGMA journal_mode = OFF")
    let ownsSnapshot = !isInTransaction
    if ownsSnapshot { try execute("BEGIN") }
    defer { if ownsSnapshot { try? execute("ROLLBACK") } }
    // Without a snapshot each commit of others would have the copying begin again.
    _ = try integer("SELECT count(*) FROM sqlite_schema")
    let backup = try SQLiteBackup(from: self, into: target)
    var isComplete = false
    while !isComplete {
      isComplete = try !backup.step(Self.pagesPerReport)
      try progress(backup.total - backup.remaining, backup.total)
    }
    try backup.finish()
  }
}
