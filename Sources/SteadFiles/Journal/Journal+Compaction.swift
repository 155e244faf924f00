import CSteadFiles
import Foundation
import Synchronization

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
      // Only what the owner has received: each of these records was verified when it was read.
      let end = Int(journal.position)
      guard end > start else { return 0 }
      do {
        try progress?.copy(to: end, of: journal)
        try progress?.syncIfFlushed(journal)
      } catch {
        // The draft may have a part of the records by now, and nobody knows how far. It can't be continued.
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

// MARK: - Replacing the file

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
    do {
      guard continues(progress, of: prepared.compaction), try reopen(&progress.draft) else {
        progress.draft.temporary.finish()
        return false
      }
    } catch {
      progress.draft.temporary.finish()
      throw error
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

  /// Opens and locks a draft again.
  ///
  /// Its lock belongs to the open file description. A child that was forked since the draft was made shares that, and
  /// would hold the journal's lock for as long as it lives. False if another process has locked or replaced the draft.
  ///
  /// - Throws: ``FileError``, such as `.notFound` if the draft was removed.
  private func reopen(_ draft: inout JournalDraft) throws -> Bool {
    let temporary = draft.temporary
    let descriptor = try disk.open(temporary.path, O_RDWR, mode: 0)
    do {
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
    } catch {
      disk.close(descriptor)
      throw error
    }
    disk.close(temporary.descriptor)
    draft.temporary = TemporaryFile(locked: descriptor, at: temporary.path, on: disk)
    return true
  }

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

  /// Replaces the file with a new one that has a checkpoint and no records. Requires the lock.
  func compact(to checkpoint: Checkpoint) throws {
    // Somebody may have removed the directory while the file was open.
    try disk.makeDirectories(path.directoryPath)
    try replace(with: draft(checkpoint))
  }

  /// Replaces the file with a draft. Requires the lock. If it throws, nothing has changed.
  ///
  /// The steps, and what a kill after each leaves:
  ///
  /// 1. The draft is completed. A kill leaves the old file, and a temporary one that the next writer removes.
  /// 2. The mark is set in the old file's tail, so that flushes and readers know that the path is about to change. A kill
  ///    leaves it; whoever finds it, and that the path still leads to the old file, clears it.
  /// 3. Records that a flush has promised to be durable are synced in the draft (`beforeRenaming`).
  /// 4. The draft is renamed. From here on the new file counts.
  /// 5. The old file's tail is marked as superseded, so that its users reopen. After a kill before this they find the mark of step 2.
  ///
  /// Invariant: at any moment exactly one file is at the path, and it has all records whose append has returned. Steps 2 to 5
  /// happen under the lock, so nothing is appended to the old file after its records were copied.
  ///
  /// The directory isn't synced. If a power loss undoes the rename, the old file is back, with everything that was flushed to it.
  ///
  /// - Parameters:
  ///   - complete: Completes the draft; its lineage and generation are written afterwards.
  ///   - beforeRenaming: Called once the mark is set.
  func replace(
    with draft: JournalDraft, completing complete: (inout JournalDraft) throws -> Void = { _ in },
    beforeRenaming: (JournalDraft) throws -> Void = { _ in }
  ) throws {
    var draft = draft
    do {
      try complete(&draft)
      var list = JournalLineage()
      let extent = JournalLineage.extent(draft.tail)
      list.inherit(JournalLineage(file), extent: extent)
      // The owners of the old file find their file in the list, up to where they have received it, and have nothing to restore.
      list.add(
        JournalLineage.Entry(
          lost: Place(salt: JournalLineage.identity(of: file, header), offset: position),
          record: extent))
      try draft.write(list, path: path)
      try draft.write(
        generation: nextGeneration(after: file.word(at: JournalLayout.generation)), path: path)
      try checkPath()
      // An exchange, not a store: it is ordered before the load of the flushed tail in `beforeRenaming`, as the flush's store of that
      // word is before its load of this one. Otherwise each could miss the other (store buffering).
      let mark = position | JournalLayout.compacting
      _ = stead_exchange(file.base + JournalLayout.tail, mark)
      try beforeRenaming(draft)
      do {
        try disk.rename(draft.temporary.path, to: path)
      } catch let error as FileError where error.isMountPointBusy {
        return switchToRewritten(try rewrite(file, with: draft), draft)
      }
    } catch {
      // An image that is announced in the header page is completed by whoever gets the lock next, so the flag has to stay.
      if !hasImage { clearFlags() }
      draft.temporary.finish()
      throw error
    }
    // Opened before the old file is marked: if mapping it fails, the old file stays usable for those that have it open.
    let opened = try opened(draft)
    file.setWord(position | JournalLayout.superseded, at: JournalLayout.tail)
    // Closing the old file frees its lock. Those that wait for it read the flag, and open the new file.
    switchTo(opened)
    position = UInt64(draft.tail)
    // The owner has received all that the new file contains, so it has nothing to restore.
    previousPosition = nil
    if isListening { addListener() }
    _ = stead_file_touch(file.descriptor)
  }

  /// Throws if another file has taken the path while this one was open. A revalidation decides what becomes of that file:
  /// another process may have appended to it, and have ended, and a rename would destroy what it wrote.
  private func checkPath() throws {
    guard let found = try disk.status(at: path), found.identity != file.identity else { return }
    writesUntilRevalidation = -1
    throw FileError.overwritten(path)
  }
}
