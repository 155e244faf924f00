import CSteadFiles
import Foundation

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
