import SteadSQLite

extension RecordStore {
  /// Removes files of external storage that rows have stopped referring to, where no other row refers to them.
  func removeFiles(_ references: some Sequence<String>) {
    blobs?.uses.drop(references)
    removeDroppedFiles()
  }

  /// Removes the dropped files that no row refers to; under the write lock, since another process may be about to refer
  /// to the same content.
  ///
  /// Does nothing within a transaction, which may yet be taken back; its end calls this again.
  func removeDroppedFiles() {
    guard let blobs, configuration.allowsSave, !isWritingHere else { return }
    let references = blobs.uses.removable
    if references.isEmpty { return }
    do {
      try maintain { connection in
        // An old row refers to them.
        let keepsAll = try RowVersions(connection: connection).start() != nil
        let unused =
          keepsAll ? [] : try ExternalReferences(self).unused(among: references, connection)
        for reference in references {
          if unused.contains(reference) {
            try blobs.remove(reference)
          } else {
            blobs.uses.keep(reference)
          }
        }
      }
    } catch {
      for reference in references { blobs.uses.keep(reference) }
      Report.problem(
        .externalFileFailed, subject: references[0],
        message: "An unused file was not removed. It only takes up space.", cause: error)
    }
  }
}
