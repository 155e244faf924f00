import Foundation
import SteadFiles

/// The latest edit of each key, in the order of each key's first edit.
struct PendingEdits {
  private(set) var edits: [DomainEdit] = []
  // By bytes: two strings that are equal to Swift can be two keys.
  private var indices: [[UInt8]: Int] = [:]

  var isEmpty: Bool { edits.isEmpty }

  mutating func add(_ edit: DomainEdit) {
    let key = Array(edit.key.utf8)
    if let index = indices[key] {
      edits[index].value = edit.value
    } else {
      indices[key] = edits.count
      edits.append(edit)
    }
  }
}

// Values that were set while the files could not be written, or were lost.
extension DomainFile {
  /// Checks whether the journal still has its name, and corrects that if not.
  func revalidate(_ replay: inout Replay) throws {
    try journal.look { event in try visit(event, &replay) }
    recordPublished(&replay)
    reapplyPending(&replay)
  }

  /// Whether earlier values still have to be written.
  var hasDeferredWrites: Bool { hasOwnDeferredWrites || hasWaitingFile }

  /// Whether values that restore a lost file still have to be written.
  var hasDeferredRestoration: Bool { stampSources.restoration.position != nil && !isReadOnly }

  /// Whether values that are in effect here still have to be written.
  var hasOwnDeferredWrites: Bool {
    !pending.isEmpty || lost != nil || stampSources.restoration.position != nil
  }

  /// Where the values are that are in effect here.
  var valuesLocation: PreferencesError.ValuesLocation {
    guard hasOwnDeferredWrites else {
      if isPlain { return .propertyList }
      return isReadOnly ? .none : .journal
    }
    return savedIn != nil && stampSources.restoration.edits.isEmpty && !journal.isRecovering
      ? .waitingFile : .memory
  }

  /// Writes pending values; throws when that is still impossible.
  func writeDeferred(_ replay: inout Replay) throws {
    guard hasDeferredWrites else { return }
    if isPlain {
      try applyPlainly(&replay) { _ in [] }
      return
    }
    try write(&replay) { _, _ in }
  }

  /// Keeps edits that could not be written, and returns whether they are the first.
  func deferWrites(_ edits: [DomainEdit]) -> Bool {
    let isFirst = pending.isEmpty
    saveWaiting(edits)
    return isFirst
  }

  /// Applies pending edits to the table again, on top of other processes' changes.
  func reapplyPending(_ replay: inout Replay) {
    guard hasDeferredWrites else { return }
    dropWritten()
    reapplyLost(&replay)
    for edit in pending.edits where replay.table[edit.key] != edit.value {
      replay.edit(edit.key, edit.value, isOwn: false)
    }
  }

  /// Writes what restores a lost file, the waiting file's values and the pending ones, each as one record.
  func writeDeferred(_ writer: Journal.Writer, _ replay: inout Replay) throws {
    reapplyPending(&replay)
    try writeRestoration(writer)
    if hasWaitingFile { try writeWaiting(writer, &replay) }
    let stamp = journal.nextStamp
    if !pending.isEmpty {
      try append(pending.edits, writer)
      recordChanges(pending.edits.lazy.map(\.key), stamp)
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

// MARK: - The waiting file

// Values in the waiting file, which wait until somebody gets the journal's lock.
extension DomainFile {
  static func waitingFile(_ name: String, in directory: URL) -> WaitingFile {
    WaitingFile(directory.appending(path: name + ".waiting", directoryHint: .notDirectory))
  }

  /// Whether a process that has the journal locked is known to be stopped.
  ///
  /// It is so for as long as the journal doesn't change. A stopped process is waited for once.
  var isLockHolderStuck: Bool { stuckTail.map { $0 == journal.tailWord } ?? false }

  /// Notes that the journal's lock was not free for as long as a call waits.
  func recordStuckHolder() { stuckTail = journal.tailWord }

  /// Writes the values that other programs have left in the waiting file.
  ///
  /// If the journal is still locked, they are in effect here nevertheless, like those that are set here.
  func writeOrLoadWaiting(_ replay: inout Replay) {
    guard !options.isReadOnly, waiting.isPresent else { return }
    hasWaitingFile = true
    do {
      try writeDeferred(&replay)
    } catch {
      let tail = journal.tailWord
      guard pending.isEmpty, let contents = try? waiting.read() else { return }
      savedTail = tail
      for edit in contents.edits { pending.add(edit) }
      savedIn = contents.id
      reapplyPending(&replay)
    }
  }

  /// Saves edits that could not be written to the journal.
  func saveWaiting(_ edits: [DomainEdit]) {
    let wasSaved = pending.isEmpty || savedIn != nil
    let (isSameFile, oldTail) = (savedIn, savedTail)
    try? quarantineForeignWaitingFile()
    for edit in edits { pending.add(edit) }
    // If that fails, too, they are in memory alone, as the error says that is thrown for the journal.
    // Read before: whoever finds the file afterwards writes to the journal.
    savedTail = journal.tailWord
    savedIn = try? waiting.append(wasSaved ? edits : pending.edits)
    guard let savedIn else { return }
    hasWaitingFile = true
    guard let isSameFile, isSameFile != savedIn else { return }
    guard wasWritten(since: oldTail) else {
      self.savedIn = try? waiting.append(pending.edits)
      return
    }
    // Somebody has written the earlier ones to the journal.
    pending = PendingEdits()
    for edit in edits { pending.add(edit) }
  }

  /// Whether somebody may have written the saved edits to the journal, if the waiting file is gone.
  ///
  /// Whoever does so writes there before the file is removed. If nobody has written there since, somebody else has removed
  /// or replaced the file.
  private func wasWritten(since tail: UInt64?) -> Bool { isReadOnly || tail != journal.tailWord }

  /// Forgets pending edits that another process has written to the journal, and removed from the waiting file.
  ///
  /// It removes them before it writes anything else. So whoever has read a later record finds them gone.
  func dropWritten() {
    guard let savedIn else { return }
    do {
      guard try waiting.read()?.id != savedIn else { return }
    } catch {
      return  // It may be there.
    }
    guard wasWritten(since: savedTail) else {
      self.savedIn = nil
      return
    }
    (pending, self.savedIn, hasWaitingFile) = (PendingEdits(), nil, false)
  }

  /// Writes the waiting file's values and the pending ones as one record. Requires the journal's lock.
  func writeWaiting(_ writer: Journal.Writer, _ replay: inout Replay) throws {
    do {
      try quarantineForeignWaitingFile()
    } catch  where waiting.isForeign {
      // It has no values that wait.
      problems.add(PreferencesError(error, domain: name))
      (hasWaitingFile, savedIn) = (false, nil)
      return
    }
    try waiting.merge(at: writer.place) { contents in
      if isWritten(contents) {
        if savedIn == contents.id { pending = PendingEdits() }
        return
      }
      var all = PendingEdits()
      for edit in contents.edits { all.add(edit) }
      // Those that are in the file are older than what other processes have added to it since.
      if savedIn != contents.id { for edit in pending.edits { all.add(edit) } }
      guard !all.isEmpty else { return }
      let stamp = journal.nextStamp
      try append(all.edits, writer)
      // So that they survive the loss of this record, too.
      recordChanges(all.edits.lazy.map(\.key), stamp)
      for edit in all.edits where replay.table[edit.key] != edit.value {
        replay.edit(edit.key, edit.value, isOwn: false)
      }
      pending = PendingEdits()
    }
    (hasWaitingFile, savedIn) = (false, nil)
  }

  /// Whether a process that was killed had written the values to the journal, and not yet removed the file.
  private func isWritten(_ contents: WaitingFile.Contents) -> Bool {
    guard let position = contents.position, let record = journal.record(at: position) else {
      return false
    }
    var written = DomainTable()
    var removed: Set<String> = []
    let isDecoded: Void? = try? record.withUnsafeBytes { bytes in
      try DomainRecord.decode(bytes) { key, value in
        written.replace(key, with: value)
        if value == nil { removed.insert(key) }
      }
    }
    var last = PendingEdits()
    for edit in contents.edits { last.add(edit) }
    return isDecoded != nil
      && last.edits.allSatisfy { edit in
        edit.value.map { written[edit.key] == $0 } ?? removed.contains(edit.key)
      }
  }
}
