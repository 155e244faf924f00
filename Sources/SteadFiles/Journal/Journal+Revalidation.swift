import CSteadFiles
import Foundation

// Files that other programs remove, exchange or overwrite while they are open.
extension Journal {
  /// Checks whether the open file still has its name, corrects that if not, and passes anything new to the owner.
  ///
  /// Costs as much as an empty write, plus looking up the name, about 1 us.
  ///
  /// - Throws: What ``write(catchingUp:_:)`` throws.
  package func look(catchingUp visit: (Event) throws -> Void) throws {
    stead_admit_bus_errors()
    if access == .readOnly {
      if try !pathLeadsHere() { try open() }
      return try read(visit)
    }
    // Not 0, which means that ``writesPerLook`` writes have been made.
    writesUntilLook = -1
    try write(catchingUp: visit) { _ in }
  }

  /// Whether the name leads to the open file, and that is intact, as far as can be determined without waiting.
  package var isInPlace: Bool {
    stead_admit_bus_errors()
    return !isOverwritten && !isCut && (try? pathLeadsHere()) ?? true
  }

  /// Whether another program has truncated or overwritten the open file.
  package var isSpoilt: Bool {
    stead_admit_bus_errors()
    return isOverwritten || isCut
  }

  /// Whether another program has overwritten the open file.
  var isOverwritten: Bool {
    // The words are read first: touching the file is what reveals its loss.
    !file.isBlank && !file.isInherited && (isDisturbed || !hasLastRecord || file.isLost)
  }

  /// Whether another program has truncated the open file, perhaps only the room behind the last record.
  ///
  /// Writes into such room, in the page in which the file ends, raise no signal, and nobody else finds them. A journal
  /// never becomes shorter while it has the same contents, so the mapped part must be there. Who only reads needs no room.
  var isCut: Bool {
    file.isWritable && !file.isInherited && !file.isReached
  }

  /// Whether the file still has its salt and the last record that was written or read.
  @inlinable @inline(__always)
  var hasLastRecord: Bool {
    file.word(at: JournalLayout.salt) == salt
      && (lastRecord == 0 || file.word(at: lastRecord) == lastWord)
  }

  /// Opens an overwritten file again, recreating it if its contents are others, and leaves it locked.
  func reopenOverwritten() throws {
    // It may be the same file, whose lock is requested again below.
    if file.keepsLock { unlockFile() }
    let opened = try openLocked()
    // Who has received nothing yet misses nothing.
    if isSuccessor(opened) || heldPlace == nil && receivedPlace == nil {
      let isSame = opened.file.identity == file.identity
      adopt(opened)
      if isListening, !isSame { announce() }
      return
    }
    if !isOverwriting(opened) { report(.overwritten, at: 0, lost: 0, keptAside: nil) }
    adopt(try renewed(opened))
    if isListening { announce() }
  }

  /// Replaces a locked file by a new one if its contents have overwritten those of the open one.
  ///
  /// The words in its header page are those of the original, so the file cannot be used as it is.
  func renewed(_ opened: Opened) throws -> Opened {
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
      return try replace(
        file, with: draft, isPartial: true,
        contained: Place(
          salt: JournalLineage.identity(of: file, header), offset: UInt64(opened.verifiedEnd)))
    } catch {
      opened.file.close(on: disk)
      throw error
    }
  }

  /// Whether a file contains all of the open one, or is that file with the contents that a process has given it.
  func isSuccessor(_ opened: Opened) -> Bool {
    guard !opened.isPartial, let held = heldPlace ?? receivedPlace else { return false }
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
  /// The child of a fork does not have its parent's file open. That may be gone, and its number may be another's.
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
  var receivedPlace: Place? { position == 0 ? nil : Place(salt: lineageIdentity, offset: position) }

  /// Makes sure that the locked file is the one that has the name. Requires the lock, and afterwards holds
  /// that of the file that has the name.
  func returnToPlace(_ visit: (Event) throws -> Void) throws {
    guard let found = try clearName() else { return try putBack(visit) }
    guard found.identity == file.identity else { return try moveOver(visit) }
    writesUntilLook = Self.writesPerLook
  }

  /// The status of what has the name now; nil for nothing.
  ///
  /// Programs that manage settings move a file elsewhere and leave a symbolic link, or replace such a link by the file, at
  /// any time. So the links are followed again, as everybody else follows them who opens the file.
  func statusInPlace() throws -> FileStatus? {
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

  /// Moves away whatever has the name and isn't a file, and returns the file's status; nil for nothing.
  func clearName() throws -> FileStatus? {
    let found = try statusInPlace()
    guard let found, found.kind != .file else { return found }
    // Two processes that clear the name at once would find the same free name, and the slower one would move away the file
    // that the other one has made.
    let aside = try disk.withLockedDirectory(path.directoryPath, wait: lockWait) { _ -> URL? in
      guard let found = try statusInPlace(), found.kind != .file else { return nil }
      return try keepAside()
    }
    if let aside { report(.notAJournal, at: 0, lost: 0, keptAside: aside) }
    return try statusInPlace()
  }

  /// Restores a file with the open one's contents, since nothing has the name.
  private func putBack(_ visit: (Event) throws -> Void) throws {
    try disk.makeDirectories(path.directoryPath)
    let draft = try draftOfFile()
    let isPlaced: Bool
    do {
      isPlaced = try place(draft)
    } catch {
      draft.temporary.finish()
      throw error
    }
    guard isPlaced else {
      draft.temporary.finish()
      return try moveOver(visit)
    }
    try takePlace(opened(draft), .removed, keptAside: nil)
  }

  /// Restores the open file, since another one has taken its name, unless another process uses that one by now.
  private func moveOver(_ visit: (Event) throws -> Void) throws {
    if let foreign = try foreignFile() { return try moveOver(foreign: foreign) }
    let other = try openLocked()
    // Only its lock tells: before, another process may have been about to open it, and to append to it.
    guard other.isCopy else { return try moveTo(other, visit) }
    // The draft's generation has to be greater than the copy's, too.
    generation = max(generation, other.generation)
    let (aside, restored): (URL, Opened)
    do {
      aside = try keepAside()
      // It contains the open file alone, not the copy, nor what that contains.
      restored = try replace(other.file, with: draftOfFile())
    } catch {
      other.file.close(on: disk)
      throw error
    }
    try takePlace(restored, .exchanged, keptAside: aside)
  }

  /// Restores the open file in the place of one that isn't a journal.
  private func moveOver(foreign: FileStatus.Identity) throws {
    let descriptor = try disk.open(path, O_RDWR | O_NONBLOCK, mode: 0)
    defer {
      disk.unlock(descriptor)
      disk.close(descriptor)
    }
    // Until the open file has the name: other processes that find the same replace it, too, and write to theirs.
    let error = lock(descriptor)
    if error == EWOULDBLOCK { throw busy }
    guard error == 0, try disk.status(descriptor, path: path).identity == foreign,
      try foreignFile() == foreign
    else { throw FileError.overwritten(path) }
    let aside = try keepAside()
    let draft = try draftOfFile()
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
    try takePlace(opened(draft), .exchanged, keptAside: aside)
  }

  /// Switches to a journal that another process uses under the name. Each owner writes into it what it lacks.
  private func moveTo(_ other: Opened, _ visit: (Event) throws -> Void) throws {
    do {
      // Whoever has set the last values may have ended.
      adoptCompletedRecords()
      _ = try deliver(visit)
    } catch {
      other.file.close(on: disk)
      throw error
    }
    if heldPlace == nil, let place = receivedPlace {
      // Nothing in the open file told that it had lost its name, since another program has moved or overwritten it. Records
      // may have been appended to it since, which the other file doesn't contain whatever its lineage says.
      (heldPlace, isHeldIntact) = (place, false)
    }
    // A tail of 0 says to the open file's other users that the new one lacks what they know.
    file.setWord(JournalLayout.superseded, at: JournalLayout.tail)
    report(.exchanged, at: 0, lost: 0, keptAside: nil)
    _ = stead_file_touch(file.descriptor)
    adopt(other)
    if isListening { announce() }
  }

  /// Switches to an opened, locked file, and directs the old file's other users there.
  private func takePlace(
    _ opened: Opened, _ kind: JournalDamage.Kind, keptAside: URL?
  ) throws {
    // A tail of 0 says to the open file's other users that the new one lacks what they know.
    let word = opened.isPartial ? 0 : file.word(at: JournalLayout.tail)
    file.setWord(word | JournalLayout.superseded, at: JournalLayout.tail)
    report(kind, at: 0, lost: 0, keptAside: keptAside)
    adopt(opened)
    if isListening { announce() }
    _ = stead_file_touch(file.descriptor)
  }

  /// Makes a draft with the open file's checkpoint and records.
  private func draftOfFile() throws -> JournalDraft {
    adoptCompletedRecords()
    let tail = Int(file.word(at: JournalLayout.tail) & ~JournalLayout.flags)
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
      // Without the checkpoint nobody knows what of the earlier files is left.
      if !new.isPartial { list.inherit(JournalLineage(file), extent: extent) }
      // The other file may be a copy of this one, with the same salt and fewer records.
      if end == tail, !new.isPartial {
        let contained = Place(
          salt: JournalLineage.identity(of: file, header), offset: UInt64(end))
        list.note(JournalLineage.Entry(lost: contained, record: extent))
      }
      try new.write(list, path: path)
      try new.write(generation: nextGeneration(), path: path)
      return new
    } catch {
      new.temporary.finish()
      throw error
    }
  }

  /// The file that has taken the journal's name, if it isn't a journal, or its header or checkpoint is damaged; nil for a
  /// journal.
  private func foreignFile() throws -> FileStatus.Identity? {
    let descriptor = try disk.open(path, O_RDWR | O_NONBLOCK, mode: 0)
    let identity: FileStatus.Identity
    do {
      identity = try disk.status(descriptor, path: path).identity
    } catch {
      disk.close(descriptor)
      throw error
    }
    guard let found = try map(descriptor) else { return identity }
    defer { found.close(on: disk) }
    switch JournalHeader.read(found.bytes) {
    case .header(let header, _): return found.hasCheckpoint(header) ? nil : identity
    // It is refused, and left alone.
    case .newerVersion: return nil
    case .damaged, .foreign: return identity
    }
  }
}
