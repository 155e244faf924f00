import Synchronization

/// A new journal file that is written and synced, and has still to take the old one's place.
package final class PreparedJournalCompaction: Sendable {
  /// The new file, and how far it goes.
  struct Progress {
    var draft: JournalDraft
    /// Records of the old file that end before this are in the new one.
    var position: Int
    /// Those that end before this survive a loss of power there, too.
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

  /// The new file, the first time.
  func take() -> Progress? {
    progress.withLock { progress in
      defer { progress = nil }
      return progress
    }
  }

  /// Copies what was appended meanwhile, so that ``Journal/Writer/finish(_:)`` has less to do.
  ///
  /// It needs no lock and keeps nobody waiting. Called until it says little, it keeps pace with a writer that
  /// never pauses.
  ///
  /// - Parameter journal: Another object for the same file, whose owner has read all that it has to tell.
  /// - Returns: How many bytes were copied; nil when the file has been replaced, so that this is of no use.
  /// - Throws: ``FileError``: `.noSpace` when the disk is full, `.changed` when another program cut the file
  ///   off. The value is of no use then.
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
  /// Adds the records up to a position of the old file.
  mutating func copy(to end: Int, of journal: Journal) throws {
    guard end > position else { return }
    let log = JournalLog(bytes: journal.file.bytes, seed: journal.seed)
    try draft.append(
      JournalDraft.Records(log: log, range: position..<end), path: journal.path)
    // What another program cut off reads as zeros.
    if journal.file.isLost { throw journal.cutOff }
    position = end
  }

  /// Syncs the new file if a flush has promised that what was copied lasts.
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
