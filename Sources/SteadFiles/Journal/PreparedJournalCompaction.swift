import Synchronization

/// A new journal file that is written and synced, and has still to take the old one's place.
package final class PreparedJournalCompaction: Sendable {
  let compaction: JournalCompaction
  private let draft: Mutex<JournalDraft?>

  init(_ draft: JournalDraft, of compaction: JournalCompaction) {
    self.compaction = compaction
    self.draft = Mutex(draft)
  }

  deinit { take()?.temporary.finish() }

  /// The draft, the first time.
  func take() -> JournalDraft? {
    draft.withLock { draft in
      defer { draft = nil }
      return draft
    }
  }
}
