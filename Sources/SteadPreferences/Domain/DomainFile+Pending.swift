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
  var owesRestoration: Bool { sources.restoration.place != nil && !isReadOnly }

  /// Whether values that are in effect here still have to be written.
  var hasOwnDebts: Bool {
    !pending.isEmpty || lost != nil || sources.restoration.place != nil
  }

  /// Where the values are that are in effect here.
  var valuesPlace: PreferencesError.ValuesPlace {
    guard hasOwnDebts else {
      if isPlain { return .propertyList }
      return isReadOnly ? .none : .journal
    }
    return savedIn != nil && sources.restoration.edits.isEmpty && !journal.isRecovering
      ? .waitingFile : .memory
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
    save(edits)
    return isFirst
  }

  /// Applies pending edits to the table again, on top of other processes' changes.
  func settle(_ replay: inout Replay) {
    guard hasDebts else { return }
    forgetWritten()
    settleLoss(&replay)
    for edit in pending.edits where replay.table[edit.key] != edit.value {
      replay.edit(edit.key, edit.value, isOwn: false)
    }
  }

  /// Writes what restores a lost file, the waiting file's values and the pending ones, each as one record.
  func payDebts(_ writer: Journal.Writer, _ replay: inout Replay) throws {
    settle(&replay)
    try writeRestoration(writer)
    if hasWaitingFile { try mergeWaiting(writer, &replay) }
    let stamp = journal.nextStamp
    if !pending.isEmpty {
      try append(pending.edits, writer)
      noteChanges(pending.edits.lazy.map(\.key), stamp)
    }
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
