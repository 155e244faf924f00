import CSteadFiles
import Foundation

// Files that other programs remove, exchange or overwrite while they are open.
//
// All processes that have a lost file open find that out at different times, and one of them first. Whoever is first restores the
// file under its lock, or moves to the one that another process has made, and sets a flag in the tail of the old file. The others find
// the flag, move as well, and compare what they have received with the lineage of the new file.

extension Journal {
  /// Revalidates: checks whether the path still leads to the open file, corrects that if not, and passes anything new to the
  /// owner.
  ///
  /// Costs as much as an empty write, plus looking up the name, about 1 us.
  ///
  /// - Throws: What ``write(catchingUp:_:)`` throws.
  package func look(catchingUp visit: (Event) throws -> Void) throws {
    stead_admit_bus_errors()
    if access == .readOnly {
      // Only the path is checked: damage is found, reported and skipped by the reading.
      if try !isPathCurrent() { try open() }
      return try read(visit)
    }
    // Not 0, which means that ``writesPerLook`` writes have been made.
    writesUntilRevalidation = -1
    try write(catchingUp: visit) { _ in }
  }

  /// Whether the path leads to the open file, and that is intact, as far as can be determined without the lock.
  package var isInPlace: Bool {
    stead_admit_bus_errors()
    // A path that cannot be examined says nothing about the file, and must not start a restoration.
    return !isOverwritten && !isTruncated && (try? isPathCurrent()) ?? true
  }

  /// Whether another program has truncated or overwritten the open file.
  package var isSpoilt: Bool {
    stead_admit_bus_errors()
    return isOverwritten || isTruncated
  }

  /// Whether another program has overwritten the open file.
  var isOverwritten: Bool {
    // The words are read first: touching the file is what reveals its loss.
    !file.isBlank && !file.isInherited && (isKnownOverwritten || !hasLastRecord || file.isLost)
  }

  /// Whether another program has truncated the open file, perhaps only the room behind the last record.
  ///
  /// Writes into such room, in the page in which the file ends, raise no signal, and nobody else finds them. A journal
  /// never becomes shorter while it has the same contents, so the mapped part must be there. Who only reads needs no room.
  var isTruncated: Bool {
    file.isWritable && !file.isInherited && !file.coversMapping
  }

  /// Whether the file still has its salt and the last record that was written or read.
  @inlinable @inline(__always)
  var hasLastRecord: Bool {
    file.word(at: JournalLayout.salt) == salt
      && (lastRecord == 0 || file.word(at: lastRecord) == lastWord)
  }

  /// Opens an overwritten file again, replaces it if its contents are not the journal's, and leaves the file at the path locked.
  ///
  /// Three things look the same from the open file: another process has rewritten the contents in place, which is no loss
  /// (``isSuccessor(_:)``); another program has copied a backup over the file, or truncated it; a file was repaired or
  /// recreated meanwhile. Only the last two are reported, and leave the owner to restore what it has received.
  func reopenOverwritten() throws {
    // The path may lead to the same file, whose lock is requested through another descriptor below.
    if file.keepsLock { unlockFile() }
    let opened = try openLocked()
    // An owner that has received nothing yet misses nothing.
    if isSuccessor(opened) || previousPosition == nil && receivedPosition == nil {
      let isSame = opened.file.identity == file.identity
      switchTo(opened)
      if isListening, !isSame { addListener() }
      return
    }
    // In the other case ``replacingOverwritten(_:)`` reports it.
    if !isOverwriting(opened) { report(.overwritten, at: 0, lost: 0, keptAside: nil) }
    switchTo(try replacingOverwritten(opened))
    if isListening { addListener() }
  }

  /// Replaces a locked file by a new one if its contents have overwritten those of the open one, as a backup's do that was copied
  /// into it.
  ///
  /// The words in its header page are those of the file from which it was copied, with its generation. Records appended
  /// behind them would count as older than records that were lost.
  func replacingOverwritten(_ opened: Opened) throws -> Opened {
    guard isOverwriting(opened) else { return opened }
    report(.overwritten, at: 0, lost: 0, keptAside: nil)
    do {
      // Another process may have appended records to it by now, and have ended.
      let (file, header) = (opened.file, opened.header)
      guard let checkpoint = file.checkpoint(header) else { throw FileError.overwritten(path) }
      let range = header.logStart..<opened.verifiedEnd
      let records =
        range.isEmpty ? nil : JournalDraft.Records(of: file, seed: header.seed, in: range)
      let draft = try draft(
        Checkpoint(bytes: checkpoint, metadata: header.metadata), records: records)
      // The lineage claims only what the found contents have. An owner that had received more finds that, and restores
      // the rest.
      return try replace(
        file, with: draft, isPartial: true,
        contained: Place(
          salt: JournalLineage.identity(of: file, header), offset: UInt64(opened.verifiedEnd)))
    } catch {
      opened.file.close(on: disk)
      throw error
    }
  }

  /// Whether a file contains all that the owner has received, or is the open one, rewritten in place by a process that had it.
  func isSuccessor(_ opened: Opened) -> Bool {
    guard !opened.isPartial, let held = previousPosition ?? receivedPosition else { return false }
    // The list may be too short for the open file's entry. A copy of this file that was made earlier has a lower generation or
    // the same salt.
    let isRewritten =
      opened.file.identity == file.identity && !opened.isCopy
      && opened.header.salt != header.salt && opened.generation >= generation
      && opened.file.word(at: JournalLayout.home) == opened.file.identity?.word
    return isRewritten
      || opened.lineage.containedTail(of: held.salt).map { $0 >= held.offset } ?? false
  }

  /// Whether a file that was opened again is the open one with other contents, such as those of a backup.
  ///
  /// The child of a fork does not have its parent's file open, so the inode number may belong to another file by now.
  private func isOverwriting(_ opened: Opened) -> Bool {
    guard !opened.isPartial, !file.isInherited, opened.file.identity == file.identity, position > 0,
      !isSuccessor(opened)
    else { return false }
    guard opened.header.salt == header.salt, UInt64(opened.verifiedEnd) >= position else {
      return true
    }
    return lastRecord != 0 && opened.file.word(at: lastRecord) != lastWord
  }

  /// Up to where the owner has received the open file; nil if it has received nothing.
  var receivedPosition: Place? {
    position == 0 ? nil : Place(salt: lineageIdentity, offset: position)
  }

  /// Makes sure that the locked file is the one at the path. Requires the lock of the open file, and afterwards holds
  /// that of the file at the path.
  func restorePath(_ visit: (Event) throws -> Void) throws {
    guard let found = try clearPath() else { return try recreateRemoved(visit) }
    guard found.identity == file.identity else { return try replaceExchanged(visit) }
    writesUntilRevalidation = Self.writesPerLook
  }

  /// Follows the links of the path again, updates ``path``, and returns the status of what is there; nil for nothing.
  ///
  /// Programs that manage settings move a file elsewhere and leave a symbolic link, or replace such a link by the file, at
  /// any time. So the links are followed again, as everybody else follows them who opens the file.
  func resolvePath() throws -> FileStatus? {
    let found: (path: String, status: FileStatus?)
    do {
      found = try disk.endOfLinks(name)
    } catch let error as FileError where (error.cause as? POSIXError)?.code == .ELOOP {
      // A link that leads nowhere is in the way itself.
      found = (name, try disk.status(at: name))
    }
    if found.path != path { path = found.path }
    return found.status
  }

  /// Moves away whatever is at the path and isn't a file, and returns the status of the file there; nil for nothing.
  func clearPath() throws -> FileStatus? {
    let found = try resolvePath()
    guard let found, found.kind != .file else { return found }
    // Two processes that clear the name at once would find the same free name, and the slower one would move away the file
    // that the other one has made.
    let aside = try disk.withLockedDirectory(path.directoryPath, wait: lockWait) { _ -> URL? in
      guard let found = try resolvePath(), found.kind != .file else { return nil }
      return try quarantine()
    }
    if let aside { report(.notAJournal, at: 0, lost: 0, keptAside: aside) }
    return try resolvePath()
  }

  /// Makes a file with the open one's contents, since nothing is at the path. Requires the open file's lock.
  private func recreateRemoved(_ visit: (Event) throws -> Void) throws {
    try disk.makeDirectories(path.directoryPath)
    let draft = try draftOfOpenFile()
    let isInstalled: Bool
    do {
      isInstalled = try install(draft)
    } catch {
      draft.temporary.finish()
      throw error
    }
    // Another process came first, and may have appended to its file by now: that one is not overwritten.
    guard isInstalled else {
      draft.temporary.finish()
      return try replaceExchanged(visit)
    }
    try switchToReplacement(opened(draft), .removed, keptAside: nil)
  }

  /// Puts a file with the open one's contents in the place of the one that has taken its path, unless another process uses that
  /// one by now. Requires the open file's lock.
  ///
  /// A copy that nobody has opened is somebody's mistake, or a backup: it is kept aside, and the open file wins. One that
  /// a process has made or opened has that process's records, and wins; each owner then writes what it has received beyond it.
  private func replaceExchanged(_ visit: (Event) throws -> Void) throws {
    if let foreign = try foreignFile() { return try replaceExchanged(foreign: foreign) }
    let other = try openLocked()
    // Known only with its lock: before, another process may have been about to open it, and to append to it.
    guard other.isCopy else { return try switchToExchanged(other, visit) }
    // The draft's generation has to be greater than the copy's, too.
    generation = max(generation, other.generation)
    let (aside, restored): (URL, Opened)
    do {
      aside = try quarantine()
      // It contains the open file alone, not the copy, nor what that contains.
      restored = try replace(other.file, with: draftOfOpenFile())
    } catch {
      other.file.close(on: disk)
      throw error
    }
    try switchToReplacement(restored, .exchanged, keptAside: aside)
  }

  /// Puts a file with the open one's contents in the place of one that isn't a journal. Requires the open file's lock.
  private func replaceExchanged(foreign: FileStatus.Identity) throws {
    let descriptor = try disk.open(path, O_RDWR | O_NONBLOCK, mode: 0)
    defer {
      disk.unlock(descriptor)
      disk.close(descriptor)
    }
    // Held until the new file is at the path: otherwise another process that finds the same replaces it, too, and appends to a
    // file that loses its path at once.
    let error = lock(descriptor)
    if error == EWOULDBLOCK { throw busy }
    guard error == 0, try disk.status(descriptor, path: path).identity == foreign,
      try foreignFile() == foreign
    else { throw FileError.overwritten(path) }
    let aside = try quarantine()
    let draft = try draftOfOpenFile()
    do {
      // A program that knows no locks may have put another file there.
      guard try disk.status(at: path)?.identity == foreign else {
        throw FileError.overwritten(path)
      }
      try disk.rename(draft.temporary.path, to: path)
    } catch {
      draft.temporary.finish()
      throw error
    }
    try switchToReplacement(opened(draft), .exchanged, keptAside: aside)
  }

  /// Switches to a journal that another process uses at the path, after everything in the open one was received. Each owner writes
  /// into it what it lacks.
  private func switchToExchanged(_ other: Opened, _ visit: (Event) throws -> Void) throws {
    do {
      // The last records may be of a process that has ended. Nobody else could restore them.
      publishCompletedRecords()
      _ = try deliver(visit)
    } catch {
      other.file.close(on: disk)
      throw error
    }
    if previousPosition == nil, let received = receivedPosition {
      // Nothing in the open file told that it had lost its name, since another program has moved or overwritten it. Records
      // may have been appended to it since, which the other file doesn't contain whatever its lineage says.
      (previousPosition, isPreviousIntact) = (received, false)
    }
    // A tail of 0 says to the open file's other users that the new one lacks what they know.
    file.setWord(JournalLayout.superseded, at: JournalLayout.tail)
    report(.exchanged, at: 0, lost: 0, keptAside: nil)
    _ = stead_file_touch(file.descriptor)
    switchTo(other)
    if isListening { addListener() }
  }

  /// Switches to an opened, locked file that has replaced the open one, and has the old file's other users follow.
  private func switchToReplacement(
    _ opened: Opened, _ kind: JournalDamage.Kind, keptAside: URL?
  ) throws {
    // A tail of 0 says to the open file's other users that the new one lacks what they know.
    let word = opened.isPartial ? 0 : file.word(at: JournalLayout.tail)
    file.setWord(word | JournalLayout.superseded, at: JournalLayout.tail)
    report(kind, at: 0, lost: 0, keptAside: keptAside)
    switchTo(opened)
    if isListening { addListener() }
    _ = stead_file_touch(file.descriptor)
  }

  /// Makes a draft with the open file's checkpoint and records. Requires the open file's lock.
  ///
  /// Invariant: the draft's lineage names the open file only if all its records up to the tail are in the draft. If the
  /// checkpoint is damaged, the owner supplies one, and the draft is partial: every owner compares it with what it has received.
  private func draftOfOpenFile() throws -> JournalDraft {
    publishCompletedRecords()
    let tail = Int(file.word(at: JournalLayout.tail) & ~JournalLayout.flags)
    // Another process may have extended the file since it was mapped here.
    if tail > file.byteCount { try file.extendMapping(on: disk, path: path) }
    let log = JournalLog(bytes: file.bytes, seed: seed)
    let end = min(log.end(from: header.logStart), tail)
    let records =
      end > header.logStart
      ? JournalDraft.Records(of: file, seed: seed, in: header.logStart..<end) : nil
    var new: JournalDraft
    if let substitute {
      new = try draft(substitute, records: records)
    } else if let checkpoint = file.checkpoint(header) {
      new = try draft(Checkpoint(bytes: checkpoint, metadata: header.metadata), records: records)
    } else {
      guard !isSpoilt else { throw FileError.overwritten(path) }
      let damage = report(
        .checkpoint, at: JournalLayout.headerByteCount, lost: 0, keptAside: nil)
      new = try draft(repair(damage), records: records)
      new.isPartial = true
    }
    do {
      var list = JournalLineage()
      let extent = JournalLineage.extent(new.tail)
      // What the open file contained of earlier ones may have been in its checkpoint.
      if !new.isPartial { list.inherit(JournalLineage(file), extent: extent) }
      // Listed although the salts may be equal: the file at the path may be a copy of this one with fewer records.
      if end == tail, !new.isPartial {
        let contained = Place(
          salt: JournalLineage.identity(of: file, header), offset: UInt64(end))
        list.add(JournalLineage.Entry(lost: contained, record: extent))
      }
      try new.write(list, path: path)
      try new.write(generation: nextGeneration(), path: path)
      return new
    } catch {
      new.temporary.finish()
      throw error
    }
  }

  /// The identity of the file at the path, if that isn't a journal, or its header or checkpoint is damaged; nil for a journal.
  private func foreignFile() throws -> FileStatus.Identity? {
    let descriptor = try disk.open(path, O_RDWR | O_NONBLOCK, mode: 0)
    let identity: FileStatus.Identity
    do {
      identity = try disk.status(descriptor, path: path).identity
    } catch {
      disk.close(descriptor)
      throw error
    }
    // Empty, and closed by `map`.
    guard let found = try map(descriptor) else { return identity }
    defer { found.close(on: disk) }
    switch JournalHeader.read(found.bytes) {
    case .header(let header, _): return found.hasCheckpoint(header) ? nil : identity
    // Opening it throws, and leaves it as it is.
    case .newerVersion: return nil
    case .damaged, .foreign: return identity
    }
  }
}
