import Foundation
import SteadSQLite

extension RecordStore {
  /// Writes a copy of the store, and restores the copy to its state after a transaction.
  ///
  /// Costs a read and a write of the whole store. Others may write meanwhile.
  func copy(to url: URL, asOf number: Int64) throws {
    try read(.newest) { connection, newest in
      try RowVersions(connection: connection).check(number, newest: newest)
    }
    try copy(to: url.path)
    let copy = StoreFile(ModelConfiguration(url: url))
    let connection = try copy.open(writable: true, keepsJournalMode: true)
    let newest = try connection.lastCommit().checked().number
    let rows = RowVersions(connection: connection)
    try rows.check(number, newest: newest)
    try connection.execute("BEGIN")
    try dropTriggers(of: connection)
    try rows.restore(number)
    try connection.execute("COMMIT")
    try linkFiles(of: copy)
  }

  /// Keeps the triggers that keep the full-text tables up to date, and drops all others.
  private func dropTriggers(of connection: StoreConnection) throws {
    let search = Set(
      layout.entities.filter { plans[$0.index] != nil && !$0.searchable.isEmpty }
        .flatMap { SearchTable(entity: $0).triggerNames })
    let names = try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    for row in names {
      if case .text(let name) = row[0], !search.contains(name) {
        try connection.execute("DROP TRIGGER \(name.sqlName)")
      }
    }
  }

  /// Links the store's files of large values into a copy.
  private func linkFiles(of copy: StoreFile) throws {
    guard let directory = blobs?.directory,
      FileManager.default.fileExists(atPath: directory.path)
    else { return }
    try FileManager.default.createSymbolicLink(
      at: copy.blobDirectory, withDestinationURL: directory)
  }
}
