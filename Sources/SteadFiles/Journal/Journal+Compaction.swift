import CSteadFiles
import Foundation

extension Journal {
  /// Replaces the file with a new one that has a checkpoint and no records. Requires the lock.
  func compact(to checkpoint: Checkpoint) throws {
    // Somebody may have removed it while the file was open.
    try disk.makeDirectories(path.directoryPath)
    try replace(with: draft(checkpoint))
  }

  /// Replaces the file with a draft. If it throws, nothing has changed.
  func replace(
    with draft: JournalDraft, completing complete: (inout JournalDraft) throws -> Void = { _ in },
    beforeRenaming: (JournalDraft) throws -> Void = { _ in }
  ) throws {
    var draft = draft
    do {
      try complete(&draft)
      var list = JournalLineage()
      let extent = JournalLineage.extent(draft.tail)
      list.inherit(JournalLineage(file), extent: extent)
      // Says to the file's other users, whatever becomes of it, that nothing is lost.
      list.note(
        JournalLineage.Entry(
          lost: Place(salt: JournalLineage.identity(of: file, header), offset: position),
          record: extent))
      try draft.write(list, path: path)
      try draft.write(
        generation: nextGeneration(after: file.word(at: JournalLayout.generation)), path: path)
      try checkPlace()
      // A process that is killed between the rename and the update of this word leaves the word as it is, and
      // whoever finds it checks where the name leads. It is exchanged atomically, so that it is written
      // before a flush's word is read.
      let mark = position | JournalLayout.compacting
      _ = stead_exchange(file.base + JournalLayout.tail, mark)
      try beforeRenaming(draft)
      do {
        try disk.rename(draft.temporary.path, to: path)
      } catch let error as FileError where error.isNameInUse {
        return adoptRewritten(try rewrite(file, with: draft), draft)
      }
    } catch {
      // Whoever gets the lock next finishes what has begun.
      if !hasImage { clearFlags() }
      draft.temporary.finish()
      throw error
    }
    let opened = try opened(draft)
    file.setWord(position | JournalLayout.superseded, at: JournalLayout.tail)
    // This releases those that wait for the old file's lock; they read its state and move to the new file.
    adopt(opened)
    position = UInt64(draft.tail)
    // The owner has all that the new file holds, so what it held of the old one no longer says what it lacks.
    heldPlace = nil
    if isListening { announce() }
    _ = stead_file_touch(file.descriptor)
  }

  /// Throws if another file has taken the journal's name while it was open, which a look decides about: another process may
  /// have written to that file, and have ended.
  private func checkPlace() throws {
    guard let found = try disk.status(at: path), found.identity != file.identity else { return }
    writesUntilLook = -1
    throw FileError.overwritten(path)
  }
}

// MARK: Damaged files

extension Journal {
  /// Gives the file that has the journal's name a second, permanent name. What isn't a file gets it instead of the first.
  func keepAside() throws -> URL {
    let status = try disk.status(at: path)
    let (identity, isFile) = (status?.identity, status?.kind == .file)
    var oldest: (path: String, modified: Date)?
    for number in 1...Self.keptAsideLimit {
      let aside = "\(path).damaged-\(number)"
      guard let found = try disk.status(at: aside) else {
        if isFile { try copy(to: aside) } else { try disk.rename(path, to: aside) }
        return URL(filePath: aside)
      }
      // A process that was killed while repairing the file got this far.
      if found.identity == identity { return URL(filePath: aside) }
      // A directory may hold anything, and is somebody else's.
      guard found.kind != .directory else { continue }
      if oldest.map({ found.modified < $0.modified }) ?? true { oldest = (aside, found.modified) }
    }
    guard let aside = oldest?.path else { throw tooManyKeptAside }
    try disk.remove(aside)
    if isFile { try copy(to: aside) } else { try disk.rename(path, to: aside) }
    return URL(filePath: aside)
  }

  private var tooManyKeptAside: FileError {
    FileError(
      code: .notAFile,
      message: "\(Self.keptAsideLimit) directories have the names \(name.fileName).damaged-1 to "
        + "-\(Self.keptAsideLimit), so nothing can be kept aside; move them away.", path: name)
  }

  private func copy(to aside: String) throws {
    do {
      try disk.link(path, to: aside)
    } catch let error as FileError where error.code == .denied || error.code == .failed {
      let contents = try disk.contents(of: path, limit: AtomicFile.sizeLimit)
      try AtomicFile(URL(filePath: aside), disk: disk).create(with: contents)
    }
  }
}

// MARK: Damaged checkpoints and records

// They may be damaged while the file is open. Nobody who has received them reads them again until a flush or a compaction, so
// only these notice.
extension Journal {
  /// Whether the open file's checkpoint is what its owner has received. Costs reading it.
  ///
  /// It is true for a file that was truncated or overwritten as a whole, which a look restores.
  package var isCheckpointIntact: Bool {
    substitute != nil || file.isBlank || isSpoilt || file.hasCheckpoint(header)
  }

  /// Keeps the open file aside, and reports that its checkpoint is damaged. Requires the lock.
  ///
  /// The owner has received what was in it, and replaces the file by a compaction.
  func reportDamagedCheckpoint() throws {
    let aside = try pathLeadsHere() ? keepAside() : nil
    report(.checkpoint, at: JournalLayout.headerByteCount, lost: 0, keptAside: aside)
  }

  /// Keeps the open file aside, and reports that its log is damaged, if that isn't what its owner has received. Requires the
  /// lock. Costs reading the log.
  ///
  /// The owner replaces the file by a compaction. A file that was truncated or overwritten as a whole is left to a look.
  func reportDamagedLog() throws {
    guard !file.isBlank, !isSpoilt else { return }
    let end = JournalLog(bytes: file.bytes, seed: seed).end(from: header.logStart)
    guard end < Int(position), !isSpoilt else { return }
    let aside = try pathLeadsHere() ? keepAside() : nil
    report(.log, at: end, lost: 0, keptAside: aside)
  }

  /// Passes the payloads of all records behind the checkpoint that the owner has received or appended.
  package func visitLog(_ visit: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    let log = JournalLog(bytes: file.bytes, seed: seed)
    let end = min(Int(position), file.byteCount)
    var offset = header.logStart
    var space = JournalSpace()
    while offset < end, let (payload, _) = log.copy(at: offset, limit: end, into: &space) {
      try visit(payload)
      offset = JournalLog.end(ofPayloadAt: offset, payload)
    }
  }
}

extension Journal.Writer {
  /// Keeps the open file aside, and reports that its checkpoint is damaged; ``compact(to:)`` replaces the file next.
  package func reportDamagedCheckpoint() throws { try journal.reportDamagedCheckpoint() }

  /// Keeps the open file aside, and reports it, if its log isn't what the owner has received; ``compact(to:)`` replaces the
  /// file next.
  package func reportDamagedLog() throws { try journal.reportDamagedLog() }
}
