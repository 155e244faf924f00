import CSteadFiles
import Foundation

/// A compaction that writes and syncs the checkpoint, the slow part, while the journal stays in use.
///
/// ```swift
/// let compaction = lock.withLock { journal.compaction(to: checkpoint()) }
/// let prepared = try compaction.prepare()  // milliseconds, on any thread, and nobody waits for it
/// try lock.withLock {
///   try journal.write(catchingUp: apply) { writer in _ = try writer.finish(prepared) }
/// }
/// ```
package struct JournalCompaction: Sendable {
  let checkpoint: Journal.Checkpoint
  let path: String
  let disk: any Disk
  /// The file to be replaced, and how much of it the checkpoint covers.
  let salt: UInt64
  let position: Int
  /// Where the last record begins that the checkpoint covers, and its first word; 0 when there is none.
  let lastRecord: Int
  let lastWord: UInt64

  /// Writes a new file next to the journal and syncs it.
  ///
  /// Pass the result to ``Journal/Writer/finish(_:)``; otherwise the file is removed when the value is released.
  ///
  /// - Throws: ``FileError``: `.noSpace` when the disk is full, `.tooLarge` above
  ///   ``Journal/metadataLimit`` or ``Journal/checkpointLimit``.
  package func prepare() throws -> PreparedJournalCompaction {
    let draft = try checkpoint.bytes.withUnsafeBytes { bytes in
      try JournalDraft(at: path, on: disk, checkpoint: bytes, metadata: checkpoint.metadata)
    }
    return PreparedJournalCompaction(draft, of: self)
  }
}

extension Journal {
  /// Describes a compaction to a checkpoint of the owner's current state; see ``JournalCompaction``.
  ///
  /// The owner must have received everything up to its position, as it has after ``read(_:)`` and during and
  /// after a write. It costs nothing.
  package func compaction(to checkpoint: Checkpoint) -> JournalCompaction {
    JournalCompaction(
      checkpoint: checkpoint, path: path, disk: disk, salt: header.salt, position: Int(position),
      lastRecord: lastRecord, lastWord: lastWord)
  }

  /// Puts a prepared file in place, with the records appended since. Requires the lock.
  func finish(_ prepared: PreparedJournalCompaction) throws -> Bool {
    guard var progress = prepared.take() else { return false }
    guard continues(progress, of: prepared.compaction), try reopen(&progress.draft) else {
      progress.draft.temporary.finish()
      return false
    }
    try replace(with: progress.draft) { draft in
      try progress.copy(to: Int(position), of: self)
      draft = progress.draft
    } beforeRenaming: { _ in
      // A flush that ended before the mark in the tail was set has promised that these records are durable;
      // one that ends later finds the mark, and flushes the new file, too.
      try progress.syncIfFlushed(self)
    }
    return true
  }

  /// Locks the draft through a separate open file, which a child forked meanwhile does not share.
  private func reopen(_ draft: inout JournalDraft) throws -> Bool {
    let temporary = draft.temporary
    let descriptor = try disk.open(temporary.path, O_RDWR, mode: 0)
    let isSame =
      try disk.status(descriptor, path: path).identity
      == disk.status(temporary.descriptor, path: path).identity
    _ = stead_file_unlock(temporary.descriptor)
    guard isSame, stead_file_try_lock(descriptor) == 0,
      try disk.status(at: temporary.path)?.identity
        == disk.status(descriptor, path: path).identity
    else {
      disk.close(descriptor)
      return false
    }
    disk.close(temporary.descriptor)
    draft.temporary = TemporaryFile(locked: descriptor, at: temporary.path, on: disk)
    return true
  }
}
