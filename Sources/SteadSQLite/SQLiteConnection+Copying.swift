import CSteadSQLite
import Foundation

extension SQLiteConnection {
  /// The number of pages copied between two reports: 1 MiB at the usual page size.
  package static let pagesPerReport: Int32 = 256

  /// Copies the database into a file that is empty or does not exist yet, and that only its owner may read.
  /// The copy is on the disk when this returns.
  ///
  /// It copies what the open transaction sees, or otherwise the last commit. Costs reading and writing all
  /// pages. Other connections may read and write meanwhile.
  ///
  /// - Parameter progress: Called with the numbers of copied pages and of all pages; throwing an error ends
  ///   the copying, and leaves a file that isn't a database.
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
    // An unfinished copy is thrown away, so nothing has to be rolled back.
    try target.execute("PRAGMA journal_mode = OFF")
    let ownsSnapshot = !isInTransaction
    if ownsSnapshot { try execute("BEGIN") }
    defer { if ownsSnapshot { try? execute("ROLLBACK") } }
    // Without a snapshot each commit of another connection would restart the copying.
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
