import CSteadFiles
import Foundation

/// A compaction whose slow part, writing and syncing the checkpoint, is done while the journal goes on.
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
  /// The file that is to be replaced, and how much of it the checkpoint has in it.
  let salt: UInt64
  let position: Int

  /// Writes a new file beside the journal and syncs it.
  ///
  /// What it returns is to be passed to ``Journal/Writer/finish(_:)``; if that does not happen, the file
  /// goes when the value does.
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
  /// Describes a compaction to a checkpoint of the state that the owner has now; see
  /// ``JournalCompaction``.
  ///
  /// The owner must have been told everything up to its position, as it is after ``read(_:)`` and in
  /// and after a write. It costs nothing.
  package func compaction(to checkpoint: Checkpoint) -> JournalCompaction {
    JournalCompaction(
      checkpoint: checkpoint, path: path, disk: disk, salt: header.salt, position: Int(position))
  }

  /// Puts a prepared file in place, with what was appended since. Only with the lock.
  func finish(_ prepared: PreparedJournalCompaction) throws -> Bool {
    guard var progress = prepared.take() else { return false }
    guard isFile(of: prepared.compaction), try reopen(&progress.draft) else {
      progress.draft.temporary.finish()
      return false
    }
    try replace(with: progress.draft) { draft in
      try progress.copy(to: Int(position), of: self)
      draft = progress.draft
    } beforeRenaming: { _ in
      // A flush that ended before the mark in the tail was set has promised that these records last; one
      // that ends later finds the mark, and flushes the new file, too.
      try progress.syncIfFlushed(self)
    }
    return true
  }

  /// Locks the draft by an open file of its own, which no child of a fork shares that was made meanwhile.
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
