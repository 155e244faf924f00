import Foundation
import SteadSQLite

extension RecordStore {
  /// Writes a copy of the store, and restores the copy to its state after a transaction.
  ///
  /// Costs a read and a write of the whole store. Others may write meanwhile.
  ///
  /// - Throws: `invalidTransactionFetchRequest` for a transaction that the store does not have yet,
  ///   `oldValuesMissing` if it keeps no old values, and `historyTokenExpired` if they begin later.
  func copy(to url: URL, asOf number: Int64) throws {
    try read(.newest) { connection, newest in
      try RowVersions(connection: connection).check(number, newest: newest)
    }
    try copy(to: url.path)
    let copy = StoreFile(ModelConfiguration(url: url))
    let connection = try copy.open(writable: true, keepsJournalMode: true)
    // Asked again of the copy: others may have written, and removed from the history, since the
    // check.
    let newest = try connection.lastCommit().checked().number
    let rows = RowVersions(connection: connection)
    try rows.check(number, newest: newest)
    try connection.execute("BEGIN")
    // Before the rows are restored: the changes of the copy must not be recorded as new ones.
    try dropTriggers(of: connection)
    try rows.restore(number)
    try connection.execute("COMMIT")
    // Instead of copies: the container of such a copy only reads.
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

// MARK: - Restoring

extension RecordStore {
  /// Restores the rows to their state after a transaction, in a new transaction, and returns its number.
  ///
  /// Costs a write for each row that was changed since, and with large values a look at all of their names.
  ///
  /// - Throws: `oldValuesMissing` for a store in memory, `unreadableValue` if a large value of that
  ///   time is gone, what ``RowVersions/check(_:newest:)`` and ``StoreWriter/alone(_:)`` throw. The store is
  ///   unchanged then.
  func restore(to number: Int64, author: String?) throws -> Int64 {
    guard !configuration.isStoredInMemoryOnly else {
      throw SwiftDataError(
        .oldValuesMissing,
        "A store in memory cannot be restored. Keep it in a file, or set the old values of its changes."
      )
    }
    return try writer.alone { _ in
      try write { connection in
        let newest = try connection.lastCommit().number
        let rows = RowVersions(connection: connection)
        try rows.check(number, newest: newest)
        // Values that are missing already are no reason to refuse.
        let before = try missingFiles(connection)
        // The file's triggers are on from here, so the history and further versions are recorded as
        // for plain SQL.
        try writer.noteByTriggers(by: author)
        try rows.revert(to: number, from: newest)
        guard try missingFiles(connection).isSubset(of: before) else {
          throw SwiftDataError(
            .unreadableValue,
            "Large values that the store had after transaction \(number) are gone, so it stays as it is. Restore it from "
              + "a backup.")
        }
        // The number that the commit of this transaction gets.
        return newest + 1
      }
    }
  }

  /// The files of large values that rows refer to, and that do not exist.
  private func missingFiles(_ connection: StoreConnection) throws -> Set<String> {
    guard let blobs else { return [] }
    let used = Set(try ExternalReferences(self).read(connection).keys)
    return used.isEmpty ? [] : used.subtracting(try blobs.references())
  }
}
