import Synchronization

/// A new journal file, written and synced, that has yet to replace the old one.
package final class PreparedJournalCompaction: Sendable {
  /// The new file, and how far it reaches.
  struct Progress {
    var draft: JournalDraft
    /// Records of the old file that end before this have been copied to the new one.
    var position: Int
    /// Records that end before this would also survive a power loss there.
    var syncedPosition: Int
  }

  let compaction: JournalCompaction
  private let progress: Mutex<Progress?>

  init(_ draft: JournalDraft, of compaction: JournalCompaction) {
    self.compaction = compaction
    let position = compaction.position
    progress = Mutex(Progress(draft: draft, position: position, syncedPosition: position))
  }

  deinit { take()?.draft.temporary.finish() }

  /// Returns the new file at the first call, nil afterwards.
  func take() -> Progress? {
    progress.withLock { progress in
      defer { progress = nil }
      return progress
    }
  }

  /// Copies the records appended meanwhile, so that ``Journal/Writer/finish(_:)`` has less to do.
  ///
  /// It needs no lock and keeps nobody waiting. If it is called until it returns a small number, it keeps
  /// pace with a writer that never pauses.
  ///
  /// - Parameter journal: Another object for the same file, whose owner has read everything in it.
  /// - Returns: The number of bytes copied; nil when the file has been replaced, which makes this value useless.
  /// - Throws: ``FileError``: `.noSpace` when the disk is full, `.changed` when another program truncated the
  ///   file. The value is useless then.
  package func advance(to journal: Journal) throws -> Int? {
    try progress.withLock { progress in
      guard let start = progress?.position, journal.isFile(of: compaction) else { return nil }
      let end = Int(journal.position)
      guard end > start else { return 0 }
      do {
        try progress?.copy(to: end, of: journal)
        try progress?.syncIfFlushed(journal)
      } catch {
        progress?.draft.temporary.finish()
        progress = nil
        throw error
      }
      return end - start
    }
  }
}

extension PreparedJournalCompaction.Progress {
  /// Appends the old file's records up to a position.
  mutating func copy(to end: Int, of journal: Journal) throws {
    guard end > position else { return }
    let log = JournalLog(bytes: journal.file.bytes, seed: journal.seed)
    try draft.append(
      JournalDraft.Records(log: log, range: position..<end), path: journal.path)
    // The part that another program truncated reads as zeros.
    if journal.file.isLost { throw journal.cutOff }
    position = end
  }

  /// Syncs the new file if a flush has promised that the copied records are durable.
  mutating func syncIfFlushed(_ journal: Journal) throws {
    guard journal.file.word(at: JournalLayout.flushedTail) > syncedPosition else { return }
    try draft.temporary.sync()
    syncedPosition = position
  }
}

extension Journal {
  /// Whether this is the file that the compaction began with.
  func isFile(of compaction: JournalCompaction) -> Bool {
    compaction.salt == header.salt && compaction.path == path
      && compaction.position >= header.logStart
  }
}
