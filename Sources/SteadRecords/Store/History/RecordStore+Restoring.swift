import SteadSQLite

extension RecordStore {
  /// Restores the rows to their state after a transaction, in a new transaction, and returns its number.
  ///
  /// Costs a write for each row that was changed since, and with large values a look at all of their names.
  func restore(to number: Int64, author: String?) throws -> Int64 {
    guard !configuration.isStoredInMemoryOnly else {
      throw SwiftDataError(
        .oldValuesMissing,
        "A store in memory cannot be restored. Keep it in a file, or set the old values of its changes."
      )
    }
    return try alone { _ in
      try write { connection in
        let newest = try connection.lastCommit().number
        let rows = RowVersions(connection: connection)
        try rows.check(number, newest: newest)
        let before = try missingFiles(connection)
        try noteByTriggers(by: author)
        try rows.revert(to: number, from: newest)
        guard try missingFiles(connection).isSubset(of: before) else {
          throw SwiftDataError(
            .unreadableValue,
            "Large values that the store had after transaction \(number) are gone, so it stays as it is. Restore it from "
              + "a backup.")
        }
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
