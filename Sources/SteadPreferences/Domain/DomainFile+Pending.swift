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

  /// Whether values that restore a lost file still have to be written.
  var owesRestoration: Bool { restoring != nil && !isReadOnly }

  /// Whether values that are in effect here still have to be written.
  var hasOwnDebts: Bool { !pending.isEmpty || lostTable != nil }

  /// Where the values are that are in effect here.
  var valuesPlace: PreferencesError.ValuesPlace {
    guard hasOwnDebts else { return .journal }
    return savedIn != nil && !journal.isRecovering ? .waitingFile : .memory
  }

  /// Writes pending values; throws when that is still impossible.
  func payDebts(_ replay: inout Replay) throws {
    guard hasDebts else { return }
    if isPlain {
      try applyPlainly(&replay) { _ in [] }
      return
    }
    try write(&replay) { _, _ in }
  }

  /// Keeps edits that could not be written, and returns whether they are the first.
  func keep(_ edits: [DomainEdit]) -> Bool {
    let isFirst = pending.isEmpty
    changes += edits.map { KeyChange(key: $0.key, offset: 0, isOwn: true) }
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
      savedIn = nil
      let lost = journal.endRecovery()
      restoring = isRestored ? nil : lost
      for change in lostChanges where change.isOwn {
        changes.append(KeyChange(key: change.key, offset: 0, isOwn: true))
      }
    }
    (lostTable, lostChanges) = (nil, [])
    for edit in pending.edits where replay.table[edit.key] != edit.value {
      replay.edit(edit.key, edit.value, isOwn: false)
    }
  }

  /// The edits that restore a lost table, as far as this process knows more than others that have restored theirs, and
  /// nobody has set the keys since.
  private func editsRestoring(_ table: DomainTable, _ replay: Replay) -> [DomainEdit] {
    let restoration = journal.restoration()
    let (newer, rivals) = (keys(of: restoration.newer), keys(of: restoration.rivals))
    let own = Set(lostChanges.filter(\.isOwn).map { Array($0.key.utf8) })
    // Of a file that was restored up to a place only the rest is missing. What others have set since may be in a
    // checkpoint by now, in which it cannot be told from what is older.
    let missing = journal.restoredOffset.map { offset in
      Set(lostChanges.filter { $0.offset >= offset }.map { Array($0.key.utf8) })
    }
    return replay.table.edits(to: PropertyList.Fields(table.fields())).filter { edit in
      let key = Array(edit.key.utf8)
      return missing?.contains(key) ?? true && !newer.contains(key)
        && (!rivals.contains(key) || own.contains(key))
    }
  }

  private func keys(of records: [Data]) -> Set<[UInt8]> {
    var keys: Set<[UInt8]> = []
    for record in records {
      // A record that this version does not know cannot have been read either.
      try? record.withUnsafeBytes { bytes in
        try DomainRecord.decode(bytes) { key, _ in keys.insert(Array(key.utf8)) }
      }
    }
    return keys
  }

  /// Writes pending values as one record.
  func payDebts(_ writer: Journal.Writer, _ replay: inout Replay) throws {
    settle(&replay)
    if let lost = restoring {
      try writer.restore(lost) { try writePending(writer, &replay) }
    } else {
      try writePending(writer, &replay)
    }
    restoring = nil
  }

  private func writePending(_ writer: Journal.Writer, _ replay: inout Replay) throws {
    let (offset, keys) = (journal.recordOffset, pending.edits.map(\.key))
    if hasWaitingFile { try mergeWaiting(writer, &replay) }
    if !pending.isEmpty { try append(pending.edits, writer) }
    changes += keys.map { KeyChange(key: $0, offset: offset, isOwn: false) }
    (pending, savedIn) = (PendingEdits(), nil)
  }

  /// Opens for writing the files that could not be opened so before.
  ///
  /// - Throws: ``PreferencesError`` `.readOnly` if that was requested; ``FileError`` while it is still impossible.
  func becomeWritable() throws {
    guard !options.isReadOnly else { throw PreferencesError.readOnly(name) }
    do {
      journal = try Self.journal(name, directory, .readWrite, options, problems)
    } catch let error as FileError {
      if error.isUnsupported { becomePlain(error) } else { unsupported = nil }
      throw error
    }
    isReadOnly = false
    unsupported = nil
    hasNewJournal = true
  }
}

extension FileError {
  /// Whether the obstacle is the location's, so that the file may become writable later.
  var isObstacle: Bool {
    [.denied, .readOnly, .notFound, .notAFile, .failed, .busy].contains(code)
  }
}
