import CSteadFiles
import Foundation

// What needs the lock: creating the file, examining it and repairing it.

extension Journal {
  /// How often another process may replace the file while this one waits for its lock.
  private static let attemptLimit = 1_000

  /// Opens or creates the journal at the path, repairs it, and leaves it locked.
  ///
  /// Invariant: the file that is returned is locked, is at the path, is intact, and is marked as this one and no copy. No process
  /// that follows the rules can take its path before the lock is free, since whoever replaces a file holds the lock of the old one.
  ///
  /// - Throws: ``FileError`` `.busy` after ``lockWait``, or if the file was replaced during ``attemptLimit`` attempts.
  func openLocked() throws -> Opened {
    for _ in 0..<Self.attemptLimit {
      guard try clearPath() != nil, let descriptor = try openIfPresent(O_RDWR) else {
        // nil: another process came first, and the next attempt opens its file.
        if let made = try make() { return made }
        continue
      }
      do {
        let error = lock(descriptor)
        if error == EWOULDBLOCK { throw busy }
        guard error == 0 else { throw FileError(errno: error, doing: "lock the file", path: path) }
        // The process that had the lock may have renamed another file over this one, which then excludes nobody.
        let identity = try disk.status(descriptor, path: path).identity
        guard try disk.status(at: path)?.identity == identity else {
          unlockAndClose(descriptor)
          continue
        }
      } catch {
        unlockAndClose(descriptor)
        throw error
      }
      do {
        return try examine(descriptor)
      } catch let error as FileError where error.code == .changed {
        continue  // Another program overwrites it at this moment.
      }
    }
    throw FileError(
      code: .busy,
      message: "The journal was replaced by another process on each of "
        + "\(Self.attemptLimit) attempts; try again.", path: path)
  }

  /// Creates the first file; nil when another process came first.
  private func make() throws -> Opened? {
    try disk.makeDirectories(path.directoryPath)
    let draft = try draft(initial())
    let isInstalled: Bool
    do {
      try draft.write(generation: nextGeneration(), path: path)
      isInstalled = try install(draft)
    } catch {
      draft.temporary.finish()
      throw error
    }
    if isInstalled {
      do {
        var opened = try opened(draft)
        // An owner that had a file open before received more than the initial checkpoint, and has to restore it.
        opened.isPartial = true
        return opened
      } catch let error as FileError where error.isUnsupported {
        // The file system can't map files. The journal that was just made would be of no use to anybody.
        try? disk.remove(path)
        throw error
      }
    }
    draft.temporary.finish()
    return nil
  }

  /// Renames a draft to the path, and returns false if something has the path already.
  func install(_ draft: JournalDraft) throws -> Bool {
    // Not a link: the descriptor would keep the temporary name, and inotify would report that name to those
    // who watch the journal. The directory's lock keeps our other writers out between the check and the
    // rename.
    try disk.withLockedDirectory(path.directoryPath, wait: lockWait) { _ in
      guard try disk.status(at: path) == nil else { return false }
      try disk.rename(draft.temporary.path, to: path)
      return true
    }
  }

  /// Writes and syncs a file, beside the journal, that has a checkpoint and perhaps another file's records.
  func draft(_ checkpoint: Checkpoint, records: JournalDraft.Records? = nil) throws -> JournalDraft
  {
    try checkpoint.bytes.withUnsafeBytes { bytes in
      try JournalDraft(
        at: path, on: disk, checkpoint: bytes, metadata: checkpoint.metadata, records: records)
    }
  }

  /// Maps the file that a draft has become. Its lock is the one that the draft has had from the beginning, so nobody has
  /// written to the file between the rename and this.
  func opened(_ draft: JournalDraft) throws -> Opened {
    let descriptor = draft.temporary.finishKeepingOpen()
    guard let file = try map(descriptor) else { throw damagedAgain }
    recordIdentity(of: file, tail: draft.tail)
    return Opened(
      file: file, header: draft.header, verifiedEnd: draft.tail, isPartial: draft.isPartial)
  }

  /// Marks a file as this one, unless it is: in a copy, the words are those of the original. Requires the lock.
  func recordIdentity(of file: MappedFile, tail: Int) {
    guard let name = file.identity?.word, file.word(at: JournalLayout.home) != name else { return }
    file.setWord(UInt64(tail), at: JournalLayout.homeTail)
    file.setWord(name, at: JournalLayout.home)
  }

  /// Replaces a locked file with a draft, and closes the old file unless it throws.
  ///
  /// Invariant: the old file keeps all its bytes and a second name (``quarantine()``), or is rewritten in place as a mount point;
  /// the new one's generation is greater than the old one's, and its lineage lists the old file only as far as the draft
  /// contains it. So an owner that knew more of the old file finds out from the new one, and writes what is missing. The
  /// order is: draft complete and synced, rename, then the flag in the old file's tail. A process that is killed in between leaves
  /// users of the old file that find out at their next revalidation.
  ///
  /// - Parameters:
  ///   - contained: Up to where the draft contains the old file, if it contains its checkpoint.
  ///   - isForeign: Whether the old file isn't a journal.
  func replace(
    _ file: MappedFile?, with draft: JournalDraft, isPartial: Bool = false, contained: Place? = nil,
    isForeign: Bool = false
  ) throws -> Opened {
    var draft = draft
    do {
      // The words of a file without a usable header or checkpoint are not to be believed.
      let old = contained == nil ? 0 : file?.word(at: JournalLayout.generation) ?? 0
      try draft.write(generation: nextGeneration(after: old), path: path)
      // What the old file contained of earlier ones may have been in its checkpoint. If that is lost, so is the list.
      if let contained {
        var list = JournalLineage()
        if let file {
          let restoredEnd = file.word(at: JournalLayout.restoredEnd)
          list.inherit(
            JournalLineage(file).prefix(endingAt: Int(contained.offset), restoredEnd: restoredEnd),
            extent: JournalLineage.extent(draft.tail))
        }
        list.inherit(draft.lineage, extent: JournalLineage.extent(draft.tail))
        list.add(
          JournalLineage.Entry(lost: contained, record: JournalLineage.extent(draft.tail)))
        try draft.write(list, path: path)
      }
      do {
        try disk.rename(draft.temporary.path, to: path)
      } catch let error as FileError where error.isMountPointBusy {
        guard let file else { throw error }
        let rewritten = try rewrite(file, with: draft)
        rewritten.setWord(UInt64(draft.tail), at: JournalLayout.restoredEnd)
        return Opened(
          file: rewritten, header: draft.header, verifiedEnd: draft.tail,
          isPartial: isPartial || draft.isPartial)
      }
    } catch {
      draft.temporary.finish()
      throw error
    }
    var opened = try opened(draft)
    opened.isPartial = isPartial || draft.isPartial
    // For older versions: the records before this were copied from the old file, and restore nothing.
    opened.file.setWord(UInt64(draft.tail), at: JournalLayout.restoredEnd)
    guard let file else { return opened }
    // The whole word, with a tail of 0: the old file's users have to reopen, and compare what they have received. Nobody has a
    // file open that isn't a journal, and its bytes are somebody's.
    if !isForeign { file.setWord(JournalLayout.superseded, at: JournalLayout.tail) }
    file.close(on: disk)
    return opened
  }
}

// MARK: - Examination

extension Journal {
  /// Whether a file was made or opened as this file, so that it isn't a copy such as a backup.
  private func isOriginal(_ file: MappedFile) -> Bool {
    guard let identity = file.identity else { return false }
    let home = file.word(at: JournalLayout.home)
    // Older versions leave out the time of birth.
    return home == identity.word || home == identity.wordWithoutBirth
  }

  /// Examines a locked file, and replaces it with a good one if it is damaged. Closes it unless it is returned.
  func examine(_ descriptor: Int32) throws -> Opened {
    guard try complete(descriptor) else { return try replaceEmpty(descriptor) }
    // Another program has just emptied it.
    guard let file = try map(descriptor) else { throw FileError.overwritten(path) }
    do {
      if file.isAllZero {
        // File systems with delayed allocation can leave this after a power loss: the length was written, the contents were not.
        // There is nothing to keep.
        report(.header, at: 0, lost: file.byteCount, keptAside: nil)
        return try replace(file, with: draft(initial()), isPartial: true)
      }
      switch JournalHeader.read(file.bytes) {
      case .newerVersion(let version): throw newerVersion(version)
      case .damaged: return try replaceLost(file, .header)
      case .foreign: return try replaceLost(file, .notAJournal)
      case .header(let header, let isWhole): return try examine(file, header, isWhole)
      }
    } catch {
      file.close(on: disk)
      throw error
    }
  }

  /// Completes a rewriting in place that a killed process has begun in a locked file. Closes the file if it throws.
  ///
  /// - Returns: false if the file is empty and can be replaced. An empty mount point is filled with zeros first, which count as
  ///   a file without a header.
  private func complete(_ descriptor: Int32) throws -> Bool {
    do {
      if try disk.status(descriptor, path: path).size == 0 {
        guard stead_file_is_mount(path) != 0 else { return false }
        // Its contents are replaced, not the file. Until then it is one of zeros.
        let error = stead_file_extend(descriptor, 0, Int64(JournalLayout.headerByteCount))
        guard error == 0 else {
          throw FileError(errno: error, doing: "extend the file", path: path)
        }
      }
      try JournalRewriting(descriptor: descriptor, path: path, disk: disk).finish()
      return true
    } catch {
      unlockAndClose(descriptor)
      throw error
    }
  }

  /// Replaces an empty file. It is not kept aside, as there is nothing in it.
  private func replaceEmpty(_ descriptor: Int32) throws -> Opened {
    // Locked until the path leads elsewhere: otherwise another process could replace the file first, and what that
    // process appended to the new one would be lost.
    defer { unlockAndClose(descriptor) }
    report(.header, at: 0, lost: 0, keptAside: nil)
    return try replace(nil, with: draft(initial()), isPartial: true)
  }

  /// Examines a locked file with a usable header, and replaces it if anything else in it is damaged.
  ///
  /// Trusts checksums alone. The tail may have reached the disk before the records or after them, so the log ends where the
  /// run of whole records ends. A tail behind that means that records are lost; one before it, that a writer was killed
  /// before it moved the tail, or that the tail itself is damaged, and nothing is.
  ///
  /// Invariant: nothing is ever appended behind a damaged record, where no reader would find it.
  ///
  /// - Parameter isWhole: Whether both copies of the header are good.
  private func examine(
    _ file: MappedFile, _ header: JournalHeader, _ isWhole: Bool
  ) throws -> Opened {
    let log = JournalLog(bytes: file.bytes, seed: header.seed)
    let end = log.end(from: header.logStart)
    // A process that was killed between setting the flag and renaming has left it. This file is at the path, so it is current.
    let word = file.word(at: JournalLayout.tail)
    let tail = Int(word & ~JournalLayout.flags)
    let hasCheckpoint = file.hasCheckpoint(header)
    let isCopy = !isOriginal(file)
    if isWhole, hasCheckpoint, tail <= end {
      if word != end { file.setWord(UInt64(end), at: JournalLayout.tail) }
      // A record that was torn before its header was complete leaves bytes here, which must not complete a later one.
      if end + JournalLayout.endByteCount <= file.byteCount { file.setWord(0, at: end) }
      // In a copy, other records may be appended than in the original, and in an old file after newer ones.
      if file.word(at: JournalLayout.home) != file.identity?.word
        || file.word(at: JournalLayout.generation) < generation
        || file.word(at: JournalLayout.generation) >= Self.generationLimit
      {
        raiseGeneration(of: file, tail: end)
      }
      recordIdentity(of: file, tail: end)
      return Opened(file: file, header: header, verifiedEnd: end, isCopy: isCopy)
    }
    let aside = try quarantine()
    if !isWhole { report(.header, at: 0, lost: 0, keptAside: aside) }
    if tail > end { report(.log, at: end, lost: tail - end, keptAside: aside) }
    let records =
      end > header.logStart
      ? JournalDraft.Records(of: file, seed: header.seed, in: header.logStart..<end) : nil
    if hasCheckpoint {
      guard let checkpoint = file.checkpoint(header) else { throw FileError.overwritten(path) }
      let draft = try draft(
        Checkpoint(bytes: checkpoint, metadata: header.metadata), records: records)
      var mended = try replace(
        file, with: draft, isPartial: tail > end,
        contained: Place(
          salt: JournalLineage.identity(of: file, header), offset: UInt64(end)))
      // The mended file has the copy's contents: ``replaceExchanged(_:)`` has to prefer the open file to it.
      mended.isCopy = isCopy
      return mended
    }
    let damage = report(
      .checkpoint, at: JournalLayout.headerByteCount, lost: header.checkpointByteCount,
      keptAside: aside)
    return try replace(file, with: draft(repair(damage), records: records), isPartial: true)
  }

  /// Replaces a locked file of which nothing can be read by one with the owner's checkpoint.
  private func replaceLost(_ file: MappedFile, _ kind: JournalDamage.Kind) throws -> Opened {
    let aside = try quarantine()
    let damage = report(kind, at: 0, lost: file.byteCount, keptAside: aside)
    let draft = try draft(repair(damage))
    return try replace(file, with: draft, isPartial: true, isForeign: kind == .notAJournal)
  }
}
