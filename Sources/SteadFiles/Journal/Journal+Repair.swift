import CSteadFiles
import Foundation

extension Journal {
  /// How often another process may replace the file while this one waits for its lock.
  private static let attemptLimit = 1_000

  /// Opens or creates the journal that has the name, repairs it, and leaves it locked.
  func openLocked() throws -> Opened {
    for _ in 0..<Self.attemptLimit {
      guard try clearName() != nil, let descriptor = try openIfPresent(O_RDWR) else {
        if let made = try make() { return made }
        continue
      }
      do {
        let error = lock(descriptor)
        if error == EWOULDBLOCK { throw busy }
        guard error == 0 else { throw FileError(errno: error, doing: "lock the file", path: path) }
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
    let isPlaced: Bool
    do {
      try draft.write(generation: nextGeneration(), path: path)
      isPlaced = try place(draft)
    } catch {
      draft.temporary.finish()
      throw error
    }
    if isPlaced {
      do {
        var opened = try opened(draft)
        opened.isPartial = true
        return opened
      } catch let error as FileError where error.isUnsupported {
        // Nobody could use the file.
        try? disk.remove(path)
        throw error
      }
    }
    draft.temporary.finish()
    return nil
  }

  func place(_ draft: JournalDraft) throws -> Bool {
    // Not a link: the descriptor would keep the temporary name, and inotify would report that name to those
    // who watch the journal. The directory's lock keeps our other writers out between the check and the
    // rename.
    try disk.withLockedDirectory(path.directoryPath, wait: lockWait) { _ in
      guard try disk.status(at: path) == nil else { return false }
      try disk.rename(draft.temporary.path, to: path)
      return true
    }
  }

  func draft(_ checkpoint: Checkpoint, records: JournalDraft.Records? = nil) throws -> JournalDraft
  {
    try checkpoint.bytes.withUnsafeBytes { bytes in
      try JournalDraft(
        at: path, on: disk, checkpoint: bytes, metadata: checkpoint.metadata, records: records)
    }
  }

  /// The new file made from a draft, still locked.
  func opened(_ draft: JournalDraft) throws -> Opened {
    let descriptor = draft.temporary.finishKeepingOpen()
    guard let file = try map(descriptor) else { throw damagedAgain }
    markHome(of: file, tail: draft.tail)
    return Opened(
      file: file, header: draft.header, verifiedEnd: draft.tail, isPartial: draft.isPartial)
  }

  /// Notes where the records begin that are written while the file is this one, and not the original of a copy.
  func markHome(of file: MappedFile, tail: Int) {
    guard let name = file.identity?.word, file.word(at: JournalLayout.home) != name else { return }
    file.setWord(UInt64(tail), at: JournalLayout.homeTail)
    file.setWord(name, at: JournalLayout.home)
  }

  /// Replaces a locked file with a draft and closes the old file.
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
      // Of a file without a header nothing is known.
      let old = contained == nil ? 0 : file?.word(at: JournalLayout.generation) ?? 0
      try draft.write(generation: nextGeneration(after: old), path: path)
      // Without the checkpoint nobody knows what of the earlier files is left.
      if let contained {
        var list = JournalLineage()
        if let file {
          let restoredEnd = file.word(at: JournalLayout.restoredEnd)
          list.inherit(
            JournalLineage(file).cut(at: Int(contained.offset), restoredEnd: restoredEnd),
            extent: JournalLineage.extent(draft.tail))
        }
        list.inherit(draft.lineage, extent: JournalLineage.extent(draft.tail))
        list.note(
          JournalLineage.Entry(lost: contained, record: JournalLineage.extent(draft.tail)))
        try draft.write(list, path: path)
      }
      do {
        try disk.rename(draft.temporary.path, to: path)
      } catch let error as FileError where error.isNameInUse {
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
    // Its records are those of the old file.
    opened.file.setWord(UInt64(draft.tail), at: JournalLayout.restoredEnd)
    guard let file else { return opened }
    // Processes that have the old file open now check where the name leads. Nobody has one open that isn't a journal, and
    // its bytes belong to somebody.
    if !isForeign { file.setWord(JournalLayout.superseded, at: JournalLayout.tail) }
    file.close(on: disk)
    return opened
  }
}

// MARK: - Examination

// What the name leads to, once it is locked.
extension Journal {
  /// Whether a process has made or opened a file where it is, so that it isn't a copy.
  private func isHome(of file: MappedFile) -> Bool {
    guard let identity = file.identity else { return false }
    let home = file.word(at: JournalLayout.home)
    // A version that left out the time of birth may have made it a moment ago.
    return home == identity.word || home == identity.wordWithoutBirth
  }

  /// Examines a locked file, and replaces it with a good one if it is damaged. Closes it unless it is returned.
  func examine(_ descriptor: Int32) throws -> Opened {
    guard try complete(descriptor) else { return try replaceEmpty(descriptor) }
    // Another program has just emptied it.
    guard let file = try map(descriptor) else { throw FileError.overwritten(path) }
    do {
      if file.isAllZero {
        // Some file systems leave this after a power loss. There is nothing to keep.
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

  /// Completes what a process that was killed has begun in a locked file that can't be replaced; false if the file is empty,
  /// and can be. Closes it if it throws.
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

  private func replaceEmpty(_ descriptor: Int32) throws -> Opened {
    // Locked until the name leads elsewhere: otherwise another process replaces the file first, and what it has written
    // by then is lost.
    defer { unlockAndClose(descriptor) }
    report(.header, at: 0, lost: 0, keptAside: nil)
    return try replace(nil, with: draft(initial()), isPartial: true)
  }

  private func examine(
    _ file: MappedFile, _ header: JournalHeader, _ isWhole: Bool
  ) throws -> Opened {
    let log = JournalLog(bytes: file.bytes, seed: header.seed)
    let end = log.end(from: header.logStart)
    // Flags mean nothing in the file that has the name.
    let word = file.word(at: JournalLayout.tail)
    let tail = Int(word & ~JournalLayout.flags)
    let hasCheckpoint = file.hasCheckpoint(header)
    let isCopy = !isHome(of: file)
    if isWhole, hasCheckpoint, tail <= end {
      if word != end { file.setWord(UInt64(end), at: JournalLayout.tail) }
      if end + JournalLayout.endByteCount <= file.byteCount { file.setWord(0, at: end) }
      // In a copy, other records may be appended than in the original, and in an old file after newer ones.
      if file.word(at: JournalLayout.home) != file.identity?.word
        || file.word(at: JournalLayout.generation) < generation
        || file.word(at: JournalLayout.generation) >= Self.generationLimit
      {
        raiseGeneration(of: file, tail: end)
      }
      markHome(of: file, tail: end)
      return Opened(file: file, header: header, verifiedEnd: end, isCopy: isCopy)
    }
    let aside = try keepAside()
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
      mended.isCopy = isCopy
      return mended
    }
    let damage = report(
      .checkpoint, at: JournalLayout.headerByteCount, lost: header.checkpointByteCount,
      keptAside: aside)
    return try replace(file, with: draft(repair(damage), records: records), isPartial: true)
  }

  private func replaceLost(_ file: MappedFile, _ kind: JournalDamage.Kind) throws -> Opened {
    let aside = try keepAside()
    let damage = report(kind, at: 0, lost: file.byteCount, keptAside: aside)
    let draft = try draft(repair(damage))
    return try replace(file, with: draft, isPartial: true, isForeign: kind == .notAJournal)
  }
}
