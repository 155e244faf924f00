import Foundation
import SteadFiles

// Values that were set while the files could not be written, or were lost.
extension DomainFile {
  /// Checks whether the journal still has its name, and corrects that if not.
  func look(_ replay: inout Replay) throws {
    try journal.look { event in try visit(event, &replay) }
    take(&replay)
    settle(&replay)
  }

  /// Whether earlier values still have to be written.
  var hasDebts: Bool { hasOwnDebts || hasWaitingFile }

  /// Whether values that are in effect here still have to be written.
  var hasOwnDebts: Bool { !pending.isEmpty || lostTable != nil }

  /// Writes pending values; throws when that is still impossible.
  func payDebts(_ replay: inout Replay) throws {
    guard hasDebts else { return }
    try write(&replay) { _, _ in }
  }

  /// Keeps edits that could not be written, and returns whether they are the first.
  func keep(_ edits: [DomainEdit]) -> Bool {
    let isFirst = pending.isEmpty
    save(edits)
    return isFirst
  }

  /// Applies pending edits to the table again, on top of other processes' changes.
  func settle(_ replay: inout Replay) {
    guard hasDebts else { return }
    forgetWritten()
    if let table = lostTable, journal.isRecovering {
      // The file was truncated or overwritten.
      let isRestored = journal.isRestored
      for edit in isRestored ? [] : editsRestoring(table, replay) { pending.add(edit) }
      // In memory alone, and written with the next record.
      (lostTable, savedIn) = (nil, nil)
      let lost = journal.endRecovery()
      restoring = isRestored ? nil : lost
    }
    for edit in pending.edits where replay.table[edit.key] != edit.value {
      replay.edit(edit.key, edit.value, isOwn: false)
    }
  }

  /// The edits that restore a lost table, as far as this process knows more than others that have restored theirs, and
  /// nobody has set the keys since.
  private func editsRestoring(_ table: DomainTable, _ replay: Replay) -> [DomainEdit] {
    var newer: Set<[UInt8]> = []
    for record in journal.recordsSinceLoss() {
      // A record that this version does not know cannot have been read either.
      try? record.withUnsafeBytes { bytes in
        try DomainRecord.decode(bytes) { key, _ in newer.insert(Array(key.utf8)) }
      }
    }
    return replay.table.edits(to: PropertyList.Fields(table.fields())).filter { edit in
      !newer.contains(Array(edit.key.utf8))
    }
  }

  /// Writes pending values as one record.
  func payDebts(_ writer: Journal.Writer, _ replay: inout Replay) throws {
    settle(&replay)
    if hasWaitingFile { try mergeWaiting(writer, &replay) }
    if !pending.isEmpty { try append(pending.edits, writer) }
    (pending, savedIn) = (PendingEdits(), nil)
    if let restoring { writer.noteRestoration(of: restoring) }
    restoring = nil
  }

  /// Opens for writing the files that could not be opened so before.
  ///
  /// - Throws: ``PreferencesError`` `.readOnly` if that was requested; ``FileError`` while it is still impossible.
  func becomeWritable() throws {
    guard !options.isReadOnly else { throw PreferencesError.readOnly(name) }
    do {
      journal = try Self.journal(name, directory, .readWrite, options, problems)
    } catch let error as FileError {
      unsupported = error.isUnsupported ? error : nil
      throw error
    }
    isReadOnly = false
    hasNewJournal = true
  }
}

extension FileError {
  /// Whether the file system cannot perform the operation at all, such as locking or mapping a file.
  var isUnsupported: Bool {
    guard code == .failed, let cause = cause as? POSIXError else { return false }
    let unsupported = [ENODEV, ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL]
    return unsupported.contains(cause.code.rawValue)
  }

  /// Whether the obstacle is the location's, so that the file may become writable later.
  var isObstacle: Bool {
    [.denied, .readOnly, .notFound, .notAFile, .failed, .busy].contains(code)
  }
}
