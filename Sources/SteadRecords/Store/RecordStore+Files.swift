import SteadSQLite

extension RecordStore {
  /// Removes a file of external storage that no row refers to any more; under the write lock, since another process may
  /// be about to refer to the same content.
  func removeFile(_ reference: String, unlessUsedIn layout: StoreLayout) {
    do {
      try maintain { connection in
        // An old row refers to it.
        if try OldRows(connection: connection).start() != nil { return }
        if try !isUsed(reference, layout, connection) { try blobs?.remove(reference) }
      }
    } catch {
      Report.problem(
        .externalFileFailed, subject: reference,
        message: "An unused file was not removed. It only takes up space.", cause: error)
    }
  }

  private func isUsed(
    _ reference: String, _ layout: StoreLayout, _ connection: StoreConnection
  ) throws -> Bool {
    for entity in layout.entities where plans[entity.index] != nil {
      for (_, column) in entity.externalColumns {
        let found = try connection.integer(
          "SELECT 1 FROM \(entity.table.sqlName) WHERE \(column.sqlName) = ?1 LIMIT 1",
          [.text(reference)])
        if found != nil { return true }
      }
    }
    return false
  }
}
