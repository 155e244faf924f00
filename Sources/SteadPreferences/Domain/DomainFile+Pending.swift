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
  var hasDebts: Bool { !pending.isEmpty || lostTable != nil }

  /// Writes pending values; throws when that is still impossible.
  func payDebts(_ replay: inout Replay) throws {
    guard hasDebts else { return }
    try write(&replay) { _, _ in }
  }

  /// Keeps edits that could not be written, and returns whether they are the first.
  func keep(_ edits: [DomainEdit]) -> Bool {
    let isFirst = pending.isEmpty
    for edit in edits { pending.add(edit) }
    return isFirst
  }

  /// Applies pending edits to the table again, on top of other processes' changes.
  func settle(_ replay: inout Replay) {
    guard hasDebts else { return }
    if let table = lostTable, journal.isRecovering {
      // Nobody else has it: the file was truncated or overwritten.
      for edit in replay.table.edits(to: PropertyList.Fields(table.fields())) { pending.add(edit) }
      lostTable = nil
      journal.endRecovery()
    }
    for edit in pending.edits where replay.table[edit.key] != edit.value {
      replay.edit(edit.key, edit.value, isOwn: false)
    }
  }

  /// Writes pending values as one record.
  func payDebts(_ writer: Journal.Writer, _ replay: inout Replay) throws {
    settle(&replay)
    guard !pending.isEmpty else { return }
    try append(pending.edits, writer)
    pending = PendingEdits()
  }

  /// Opens for writing the files that could not be opened so before.
  ///
  /// - Throws: ``PreferencesError`` `.readOnly` if that was requested; ``FileError`` while it is still impossible.
  func becomeWritable() throws {
    guard !options.isReadOnly else { throw PreferencesError.readOnly(name) }
    journal = try Self.journal(name, directory, .readWrite, isReadOnly: false, problems)
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
