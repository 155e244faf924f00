import Foundation
import SteadFiles

/// Edits that wait to be written: the latest of each key, in the order of each key's first edit.
struct PendingEdits {
  private(set) var edits: [DomainEdit] = []
  private var indices: [ExactKey: Int] = [:]

  var isEmpty: Bool { edits.isEmpty }

  mutating func add(_ edit: DomainEdit) {
    let key = ExactKey(edit.key)
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

  /// Whether anything must be written before the next change, by this program or another.
  var hasDeferredWrites: Bool { hasOwnDeferredWrites || hasWaitingFile }

  /// Whether values that restore a lost file have yet to be written.
  var hasDeferredRestoration: Bool { stampSources.restoration.position != nil && !isReadOnly }

  /// Whether values that are in effect here have yet to be written.
  var hasOwnDeferredWrites: Bool {
    !pending.isEmpty || lost != nil || stampSources.restoration.position != nil
  }

  /// Where the values are that are in effect, for the error of a change that could not be written.
  var valuesLocation: PreferencesError.ValuesLocation {
    guard hasOwnDeferredWrites else {
      if isPlain { return .propertyList }
      return isReadOnly ? .none : .journal
    }
    return waitingFileID != nil && stampSources.restoration.edits.isEmpty && !journal.isRecovering
      ? .waitingFile : .memory
  }

  // MARK: - Deferred writes

  /// Writes everything deferred; throws while that is impossible.
  func writeDeferred(_ replay: inout Replay) throws {
    guard hasDeferredWrites else { return }
    if isPlain {
      try applyPlainly(&replay) { _ in [] }
      return
    }
    try write(&replay) { _, _ in }
  }

  /// Defers edits that could not be written, and returns whether they are the first.
  func deferWrites(_ edits: [DomainEdit]) -> Bool {
    let isFirst = pending.isEmpty
    saveWaiting(edits)
    return isFirst
  }

  /// Puts deferred values on top of the table again, after other processes' records were applied.
  ///
  /// Deferred edits win over records that are read later: they count as set when they are written.
  func reapplyPending(_ replay: inout Replay) {
    guard hasDeferredWrites else { return }
    dropWritten()
    reapplyLost(&replay)
    for edit in pending.edits where replay.table[edit.key] != edit.value {
      replay.edit(edit.key, edit.value, isOwn: false)
    }
  }

  /// Writes everything deferred. Requires the journal's lock, and that all records were read.
  ///
  /// The order is that of the layers: what restores a lost file, then the waiting file, then this
  /// program's own edits. Each is one record, so a kill in between leaves whole layers, and each
  /// later one is newer.
  func writeDeferred(_ writer: Journal.Writer, _ replay: inout Replay) throws {
    reapplyPending(&replay)
    try writeRestoration(writer)
    if hasWaitingFile { try writeWaiting(writer, &replay) }
    let stamp = journal.nextStamp
    if !pending.isEmpty {
      try append(pending.edits, writer)
      recordChanges(pending.edits.lazy.map(\.key), stamp)
    }
    // Only now: had an append thrown, everything would still be pending.
    (pending, waitingFileID) = (PendingEdits(), nil)
  }

  /// Opens for writing the files that could only be read before.
  ///
  /// - Throws: ``PreferencesError`` `.readOnly` if that was requested; ``FileError`` while it is
  ///   still impossible.
  func becomeWritable() throws {
    guard !options.isReadOnly else { throw PreferencesError.readOnly(name) }
    do {
      // A new object, which has to read the whole file. The table stays until it has.
      journal = try Self.journal(name, directory, .readWrite, options, problems)
    } catch let error as FileError {
      if error.isUnsupported { becomePlain(error) } else { unsupported = nil }
      throw error
    }
    isReadOnly = false
    unsupported = nil
    // The store reads through an unmanaged reference to the old object, and must replace it.
    hasNewJournal = true
  }
}

// MARK: - Obstacles

extension FileError {
  /// Whether the location is the obstacle, so that the file may become writable later. Other
  /// errors, such as a full disk, are thrown at once, and nothing is deferred.
  var isObstacle: Bool {
    [.denied, .readOnly, .notFound, .notAFile, .failed, .busy].contains(code)
  }
}

// MARK: - The waiting file

// Values in the waiting file, which wait until a process gets the journal's lock.
extension DomainFile {
  /// The file `NAME.waiting` beside the journal.
  static func waitingFile(_ name: String, in directory: URL) -> WaitingFile {
    WaitingFile(directory.appending(path: name + ".waiting", directoryHint: .notDirectory))
  }

  /// Whether the process that has the journal locked is known to be stopped: the journal has not
  /// changed since it was last waited for. So a stopped process costs one wait, and not one for
  /// each call.
  var isLockHolderStuck: Bool { stuckHolderTail.map { $0 == journal.tailWord } ?? false }

  /// Records that the lock was not free for as long as a call waits.
  func recordStuckHolder() { stuckHolderTail = journal.tailWord }

  /// Writes what other programs have saved in the waiting file; if the journal is locked, only
  /// loads it.
  ///
  /// Then it is in effect here nevertheless, like what is set here. Called when a domain is opened.
  func writeOrLoadWaiting(_ replay: inout Replay) {
    guard !options.isReadOnly, waiting.isPresent else { return }
    hasWaitingFile = true
    do {
      try writeDeferred(&replay)
    } catch {
      // Before the file is read: if another process merges it in between, the tail moves, and the
      // edits are dropped again.
      let tail = journal.tailWord
      guard pending.isEmpty, let contents = try? waiting.read() else { return }
      waitingFileTail = tail
      for edit in contents.edits { pending.add(edit) }
      waitingFileID = contents.id
      reapplyPending(&replay)
    }
  }

  /// Defers edits, and saves them in the waiting file, so that they survive the end of this
  /// process.
  ///
  /// If that fails, too, they are in memory alone, which ``valuesLocation`` says. Invariant:
  /// `waitingFileID` is the ID of a file that has all of `pending`, or nil.
  func saveWaiting(_ edits: [DomainEdit]) {
    // Earlier edits that are in memory alone have to be appended, too.
    let wasSaved = pending.isEmpty || waitingFileID != nil
    let (oldID, oldTail) = (waitingFileID, waitingFileTail)
    // If that is impossible, the edits stay in memory.
    try? quarantineForeignWaitingFile()
    for edit in edits { pending.add(edit) }
    // Read before appending: a process that finds the file afterwards writes to the journal, which
    // moves the tail.
    waitingFileTail = journal.tailWord
    waitingFileID = try? waiting.append(wasSaved ? edits : pending.edits)
    guard let waitingFileID else { return }
    hasWaitingFile = true
    // Another file than before: what became of the earlier edits has to be found out.
    guard let oldID, oldID != waitingFileID else { return }
    // The file with the earlier edits is gone, and its edits were not written: another program has
    // removed or replaced it.
    guard wasWritten(since: oldTail) else {
      self.waitingFileID = try? waiting.append(pending.edits)
      return
    }
    // Another process has written the earlier ones to the journal.
    pending = PendingEdits()
    for edit in edits { pending.add(edit) }
  }

  /// Whether another process may have written the saved edits to the journal, given that the
  /// waiting file is gone.
  ///
  /// It would write there before it removes the file. If the tail has not moved since,
  /// another program has removed or replaced the file, and the edits are still pending.
  private func wasWritten(since tail: UInt64?) -> Bool { isReadOnly || tail != journal.tailWord }

  /// Drops pending edits that another process has moved from the waiting file to the journal.
  ///
  /// It removes the file before it appends anything else. So a process that has read a later record
  /// finds the file gone.
  func dropWritten() {
    guard let waitingFileID else { return }
    do {
      // Still there, so not written.
      guard try waiting.read()?.id != waitingFileID else { return }
    } catch {
      return  // It may be there.
    }
    guard wasWritten(since: waitingFileTail) else {
      self.waitingFileID = nil
      return
    }
    (pending, self.waitingFileID, hasWaitingFile) = (PendingEdits(), nil, false)
  }

  /// Writes the waiting file's edits and the pending ones as one record. Requires the journal's
  /// lock.
  ///
  /// The file notes where that record is to begin before it is appended. A process that finds the
  /// file after a kill looks there, see ``isWritten(_:)``, so that the edits are not written twice,
  /// over newer ones.
  func writeWaiting(_ writer: Journal.Writer, _ replay: inout Replay) throws {
    do {
      try quarantineForeignWaitingFile()
    } catch  where waiting.isForeign {
      // It has no values that wait.
      problems.add(PreferencesError(error, domain: name))
      (hasWaitingFile, waitingFileID) = (false, nil)
      return
    }
    try waiting.merge(at: writer.place) { contents in
      // A process was killed between the record and the removal of the file. Only the removal is
      // left.
      if isWritten(contents) {
        if waitingFileID == contents.id { pending = PendingEdits() }
        return
      }
      var all = PendingEdits()
      for edit in contents.edits { all.add(edit) }
      // Those that are in the file are older than what other processes have added behind them.
      if waitingFileID != contents.id { for edit in pending.edits { all.add(edit) } }
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
    (hasWaitingFile, waitingFileID) = (false, nil)
  }

  /// Whether the record at the noted position has exactly these edits: a process was killed after
  /// appending it and before removing the file.
  private func isWritten(_ contents: WaitingFile.Contents) -> Bool {
    // With another salt the journal was compacted or replaced since. Then the edits are written
    // once more.
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
    // The record has one operation for each key, the last one of the file.
    var last = PendingEdits()
    for edit in contents.edits { last.add(edit) }
    return isDecoded != nil
      && last.edits.allSatisfy { edit in
        edit.value.map { written[edit.key] == $0 } ?? removed.contains(edit.key)
      }
  }
}
