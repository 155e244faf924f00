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
  /// never becomes shorter, so the mapped part must be there.
  var isCut: Bool {
    !file.isBlank && !file.isInherited && !file.isReached
  }

  /// Whether the file still has its salt and the last record that was written or read.
  @inlinable @inline(__always)
  var hasLastRecord: Bool {
    file.word(at: JournalLayout.salt) == salt
      && (lastRecord == 0 || file.word(at: lastRecord) == lastWord)
  }

  /// Opens an overwritten file again, recreating it if it isn't a journal, and leaves it locked.
  func reopenOverwritten() throws {
    // It may be the same file, whose lock is requested again below.
    if file.keepsLock { unlockFile() }
    let opened = try openLocked()
    report(.overwritten, at: 0, lost: 0, keptAside: nil)
    adopt(opened)
    stead_raise(file.base + JournalLayout.placedTail, UInt64(verifiedEnd))
    if isListening { announce() }
  }

  /// Makes sure that the locked file is the one that has the name. Requires the lock, and afterwards holds
  /// that of the file that has the name.
  func returnToPlace() throws {
    guard let found = try disk.status(at: path) else { return try putBack() }
    if found.identity == file.identity {
      writesUntilLook = Self.writesPerLook
      let tail = file.word(at: JournalLayout.tail) & ~JournalLayout.flags
      return stead_raise(file.base + JournalLayout.placedTail, tail)
    }
    try moveOver()
  }

  /// Restores a file with the open one's contents, since nothing has the name.
  private func putBack() throws {
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
      return try moveOver()
    }
    try takePlace(opened(draft), .removed, keptAside: nil)
  }

  /// Switches to the file that has taken the name, with the records that it cannot contain.
  private func moveOver() throws {
    guard try hasJournal() else {
      let aside = try keepAside()
      let draft = try draftOfFile()
      do {
        try disk.rename(draft.temporary.path, to: path)
      } catch {
        draft.temporary.finish()
        throw error
      }
      return try takePlace(opened(draft), .exchanged, keptAside: aside)
    }
    let missing = recordsSinceLook()
    let opened = try openLocked()
    try takePlace(opened, .exchanged, keptAside: nil)
    position = UInt64(verifiedEnd)
    do {
      let writer = Writer(self)
      for payload in missing {
        try writer.append(byteCount: payload.count) { $0.copyBytes(from: payload) }
      }
      position = 0
    } catch {
      position = 0
      throw error
    }
  }

  /// Switches to an opened, locked file, and directs the old file's other users there.
  private func takePlace(
    _ opened: Opened, _ kind: JournalDamage.Kind, keptAside: URL?
  ) throws {
    let word = file.word(at: JournalLayout.tail)
    file.setWord(word | JournalLayout.superseded, at: JournalLayout.tail)
    report(kind, at: 0, lost: 0, keptAside: keptAside)
    adopt(opened)
    stead_raise(file.base + JournalLayout.placedTail, UInt64(verifiedEnd))
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
      ? JournalDraft.Records(log: log, range: header.logStart..<end) : nil
    if let substitute { return try draft(substitute, records: records) }
    guard let checkpoint = file.checkpoint(header) else { throw FileError.overwritten(path) }
    return try draft(Checkpoint(bytes: checkpoint, metadata: header.metadata), records: records)
  }

  /// The records that were appended since the open file was last seen to have the name.
  private func recordsSinceLook() -> [Data] {
    var space = JournalSpace()
    let tail = Int(file.word(at: JournalLayout.tail) & ~JournalLayout.flags)
    let log = JournalLog(bytes: file.bytes, seed: seed)
    var offset = header.logStart
    let start = Int(file.word(at: JournalLayout.placedTail))
    var payloads: [Data] = []
    while offset < min(tail, file.byteCount),
      let (payload, _) = log.copy(at: offset, limit: file.byteCount, into: &space)
    {
      if offset >= start { payloads.append(Data(payload)) }
      offset = JournalLog.end(ofPayloadAt: offset, payload)
    }
    return payloads
  }

  /// Whether the file that has the name is a journal whose header and checkpoint are intact, or one of a
  /// newer version, which is left alone.
  private func hasJournal() throws -> Bool {
    let descriptor = try disk.open(path, O_RDWR | O_NONBLOCK, mode: 0)
    guard let found = try map(descriptor) else { return false }
    defer { found.close(on: disk) }
    switch JournalHeader.read(found.bytes) {
    case .header(let header, _): return found.hasCheckpoint(header)
    case .newerVersion: return true
    case .damaged, .foreign: return false
    }
  }
}
