import CSteadFiles
import Foundation

/// Makes a journal durable independently of the journal itself, which its owner can use meanwhile.
///
/// Get one from ``Journal/flusher``, release the lock that guards the journal, and flush.
package struct JournalFlusher: Sendable {
  /// nil for a journal that was opened read-only.
  let path: String?
  let disk: any Disk
  /// How long it waits for a process that is about to replace the file. Unlike a write, which waits for
  /// ``Journal/lockWaitLimit``, it may wait for a whole state to be written.
  private static let replacementLimit = Duration.seconds(1)

  /// Returns once everything that was appended before the call survives a power loss.
  ///
  /// It costs a sync of the file, 0.1 ms on an idle disk and milliseconds on a busy one; after a compaction
  /// one more, of the directory. It also reads the log, 0.01 ms for 100 KiB. A journal that was opened read-only has nothing
  /// to flush.
  ///
  /// - Throws: ``FileError`` when the disk fails, or the file has been removed; `.damaged` when the disk
  ///   failed before, and what was appended then may not be on the disk until a compaction has written it
  ///   again, or when another program has overwritten a record, behind which nobody who opens the file reads on.
  package func flush() throws {
    guard let path else { return }
    stead_admit_bus_errors()
    for _ in 0..<Self.attemptLimit where try flushNewestFile(path) { return }
    throw FileError(
      code: .busy,
      message: "The journal was replaced by another process on each of "
        + "\(Self.attemptLimit) attempts; try again.", path: path)
  }

  private static let attemptLimit = 1_000

  /// Opens the file that has the name, which the caller closes.
  private func openNewestFile(_ path: String) throws -> (header: MappedFile, status: FileStatus) {
    // Opened by name: if another process has just compacted the journal, that is where the appended records are.
    // For writing, since the flush sets words of the header page.
    let descriptor = try disk.open(path, O_RDWR, mode: 0)
    let status: FileStatus
    let header: MappedFile
    do {
      status = try disk.status(descriptor, path: path)
      let file = try MappedFile(descriptor, writable: true, status: status, path: path)
      guard let file else { throw overwritten(path) }
      header = file
    } catch {
      disk.close(descriptor)
      throw error
    }
    guard header.byteCount >= JournalLayout.headerByteCount else {
      header.close(on: disk)
      throw overwritten(path)
    }
    return (header, status)
  }

  /// Flushes the file at the path; false when another one has replaced it meanwhile, and has to be flushed.
  ///
  /// It takes no lock, so a compaction may run at the same time. Between the two there is a handshake by two words: the flush
  /// raises ``JournalLayout/flushedTail`` and then reads the tail's flags; the compaction sets its flag and then reads the
  /// flushed tail. Both write by an atomic read-modify-write before they read, so at least one of them sees the other. Either the compaction syncs the
  /// records that it has copied, or the flush waits for the new file and flushes that.
  ///
  /// Invariant: it returns true only if every record up to the tail that was read before the sync is whole and durable, in the file
  /// that is at the path.
  private func flushNewestFile(_ path: String) throws -> Bool {
    let (opened, status) = try openNewestFile(path)
    var header = opened
    let descriptor = header.descriptor
    defer { header.close(on: disk) }
    let salt = header.word(at: JournalLayout.salt)
    let identity = JournalLineage.identity(of: header, salt: salt)
    // Linux reports a failed write-back once, marks the pages clean, and lets the next sync succeed. So the failure is recorded
    // in the file, for all processes.
    guard header.word(at: JournalLayout.failedSync) == 0 else {
      throw FileError(
        code: .damaged,
        message: "The disk failed when the journal was last made durable; check the disk, and "
          + "compact the journal, which writes all of it again.", path: path)
    }
    let word = header.word(at: JournalLayout.tail)
    let tail = word & ~JournalLayout.flags
    let wasRewritten = word & JournalLayout.compacting != 0
    // Checked after the sync: what was synced may have been other contents. The room behind the last record may be gone: a
    // compaction in place may have truncated the file after it was mapped.
    func isIntact() -> Bool {
      header.word(at: JournalLayout.salt) == salt && salt != 0 && !header.isLost
        && stead_file_reaches(descriptor, Int64(clamping: tail)) != 0
    }
    do {
      try disk.syncContents(descriptor, path: path)
    } catch {
      header.setWord(1, at: JournalLayout.failedSync)
      throw error
    }
    // The word is the file's own number and not a flag, since a copy of the file has the word, but not a durable name.
    let name = status.identity.word
    if header.word(at: JournalLayout.durableName) != name {
      try disk.syncDirectory(path.directoryPath)
      header.setWord(name, at: JournalLayout.durableName)
    }
    // Either a compactor finds this word after it has set its mark, and syncs what it copies; or its mark is
    // found here, and its file is flushed, too.
    stead_raise(header.base + JournalLayout.flushedTail, tail)
    let hasRecords = try header.hasRecords(to: Int(clamping: tail), on: disk, path: path)
    // In this order: who replaces the contents in place writes the salt before the flag is cleared.
    let isReplacing = header.word(at: JournalLayout.tail) & JournalLayout.flags != 0
    let isFlushed = isIntact()
    if !isFlushed {
      // A file that is a mount point gets other contents in a compaction, which say what they contain. If that was under way at
      // the beginning, what was read may be of both contents.
      let isContained = JournalLineage(header).containedTail(of: identity).map { $0 >= tail }
      guard wasRewritten || isContained ?? false else { throw overwritten(path) }
    }
    if !isReplacing {
      // Otherwise a compaction in place may have been changing the records while they were read.
      if isFlushed, !hasRecords { throw overwritten(path) }
      return isFlushed
    }
    // The compactor holds the lock until its file has the name.
    // Only to wait: closing the file at the end frees the lock.
    let limit = Self.replacementLimit.wholeMicroseconds
    let error = stead_file_lock_within(
      descriptor, limit, header.base + JournalLayout.keptLock)
    if error == EWOULDBLOCK {
      throw FileError(
        code: .busy,
        message: "Another process has stopped while replacing the journal; resume or end it.",
        path: path)
    }
    guard error == 0 else { throw FileError(errno: error, doing: "lock the file", path: path) }
    return try isFlushed && disk.status(at: path)?.identity == status.identity
  }

  private func overwritten(_ path: String) -> FileError {
    FileError(
      code: .damaged,
      message: "Another program has overwritten the journal; write to it, which repairs it, and "
        + "flush again.", path: path)
  }
}

extension MappedFile {
  /// Whether the records up to a tail are whole. Costs reading them.
  fileprivate mutating func hasRecords(
    to tail: Int, on disk: any Disk, path: String
  ) throws -> Bool {
    // It may have been extended since it was mapped.
    if tail > byteCount { try extendMapping(on: disk, path: path) }
    guard case .header(let header, _) = JournalHeader.read(bytes) else { return false }
    return JournalLog(bytes: bytes, seed: header.seed).end(from: header.logStart) >= tail
  }
}

extension Journal {
  /// Performs ``flush()`` without exclusive use of the journal.
  package var flusher: JournalFlusher {
    JournalFlusher(path: access == .readWrite ? path : nil, disk: disk)
  }

  /// Returns once everything that was appended survives a power loss; see ``JournalFlusher/flush()``.
  ///
  /// - Throws: ``FileError`` when the disk fails, or the file has been removed.
  package func flush() throws { try flusher.flush() }
}
