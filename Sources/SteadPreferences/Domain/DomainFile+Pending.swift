import Foundation
import SteadFiles

// What was set while the files could not be written, or were lost.
extension DomainFile {
  /// Looks whether the journal still has its name, and puts that right.
  func look(_ replay: inout Replay) throws {
    try journal.look { event in try visit(event, &replay) }
    take(&replay)
    settle(&replay)
  }

  /// Whether there is something to write that was set before.
  var hasDebts: Bool { !pending.isEmpty || lostTable != nil }

  /// Writes what is pending; throws when that is still not possible.
  func payDebts(_ replay: inout Replay) throws {
    guard hasDebts else { return }
    try write(&replay) { _, _ in }
  }

  /// Keeps edits that could not be written, and says whether they are the first.
  func keep(_ edits: [DomainEdit]) -> Bool {
    let isFirst = pending.isEmpty
    for edit in edits { pending.add(edit) }
    return isFirst
  }

  /// Makes the table show what is pending again, over what others have written.
  func settle(_ replay: inout Replay) {
    guard hasDebts else { return }
    if let table = lostTable, journal.isRecovering {
      // Nobody else has it: the file was cut off or written over.
      for edit in replay.table.edits(to: PropertyList.Fields(table.fields())) { pending.add(edit) }
      lostTable = nil
      journal.endRecovery()
    }
    for edit in pending.edits where replay.table[edit.key] != edit.value {
      replay.edit(edit.key, edit.value, isOwn: false)
    }
  }

  /// Writes what is pending as one record.
  func payDebts(_ writer: Journal.Writer, _ replay: inout Replay) throws {
    settle(&replay)
    guard !pending.isEmpty else { return }
    try append(pending.edits, writer)
    pending = PendingEdits()
  }

  /// Opens files for writing that could not be opened so before.
  ///
  /// - Throws: ``PreferencesError`` `.readOnly` where that was asked for; ``FileError`` while it is still
  ///   not possible.
  func becomeWritable() throws {
    guard !options.isReadOnly else { throw PreferencesError.readOnly(name) }
    journal = try Self.journal(name, directory, .readWrite, isReadOnly: false, problems)
    isReadOnly = false
    hasNewJournal = true
  }
}

extension FileError {
  /// Whether the file system cannot do at all what was asked of it, such as to lock or to map a file.
  var isUnsupported: Bool {
    guard code == .failed, let cause = cause as? POSIXError else { return false }
    let unsupported = [ENODEV, ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL]
    return unsupported.contains(cause.code.rawValue)
  }

  /// Whether the file may be written some other time, by nobody's fault but the place's.
  var isObstacle: Bool {
    [.denied, .readOnly, .notFound, .notAFile, .failed, .busy].contains(code)
  }
}
