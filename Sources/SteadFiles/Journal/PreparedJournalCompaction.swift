import CSteadFiles
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
    /// Where the last copied record begins in the old file, and its first word; 0 when there is none.
    var lastRecord: Int
    var lastWord: UInt64
  }

  let compaction: JournalCompaction
  private let progress: Mutex<Progress?>

  init(_ draft: JournalDraft, of compaction: JournalCompaction) {
    self.compaction = compaction
    let position = compaction.position
    progress = Mutex(
      Progress(
        draft: draft, position: position, syncedPosition: position,
        lastRecord: compaction.lastRecord, lastWord: compaction.lastWord))
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
    stead_admit_bus_errors()
    return try progress.withLock { progress in
      guard let start = progress?.position,
        progress.map({ journal.continues($0, of: compaction) }) ?? false
      else { return nil }
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
    try draft.append(
      JournalDraft.Records(of: journal.file, seed: journal.seed, in: position..<end),
      path: journal.path)
    position = end
    (lastRecord, lastWord) = (journal.lastRecord, journal.lastWord)
  }

  /// Syncs the new file if a flush has promised that the copied records are durable.
  mutating func syncIfFlushed(_ journal: Journal) throws {
    guard journal.file.word(at: JournalLayout.flushedTail) > syncedPosition else { return }
    try draft.temporary.sync()
    syncedPosition = position
  }
}

extension Journal {
  /// Whether this file continues what a compaction has copied.
  ///
  /// A backup of the file has the same salt, but has other records behind the place where it was made. So the last
  /// copied record has to be there.
  func continues(
    _ progress: PreparedJournalCompaction.Progress, of compaction: JournalCompaction
  ) -> Bool {
    compaction.salt == header.salt && compaction.path == path
      && progress.position >= header.logStart && progress.position <= position
      && progress.position <= file.byteCount
      && (progress.lastRecord == 0 || file.word(at: progress.lastRecord) == progress.lastWord)
  }
}
