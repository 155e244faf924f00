import Foundation
import SteadFiles

extension DomainFile {
  /// The state of the compaction that runs in the background.
  enum BackgroundCompaction: Equatable {
    case none
    /// The store has to begin it.
    case due
    /// It is running in the process with that number of forks. The child of a fork lacks its thread.
    case underWay(generation: UInt64)
  }

  /// Has the log compacted, if it is long enough.
  func compactIfDue(_ writer: Journal.Writer, _ replay: inout Replay) {
    let length = writer.logByteCount
    guard isCompactionDue else { return }
    let limit = max(options.waitingLogLimit, 8 * writer.checkpointByteCount, nextCompaction)
    if isLogLeftLong || length > limit { return compactNow(writer, &replay) }
    if compaction != .underWay(generation: forkGeneration) { compaction = .due }
  }

  /// Notes how long a log other processes have left.
  ///
  /// Programs that end before their background compaction is done would let it grow without limit.
  func noteLogLength() {
    let due = dueLength(checkpoint: journal.checkpointByteCount)
    isLogLeftLong = journal.logByteCount > due + due / 4
  }

  var isCompactionDue: Bool {
    journal.logByteCount > dueLength(checkpoint: journal.checkpointByteCount)
  }

  private func dueLength(checkpoint: Int) -> Int {
    max(options.logLimit, 2 * checkpoint, nextCompaction)
  }

  /// Compacts while others wait.
  ///
  /// - Parameter base: As for ``compact(_:_:base:)``.
  private func compactNow(
    _ writer: Journal.Writer, _ replay: inout Replay, base: DomainTable? = nil
  ) {
    // A file that has lost its name must not replace the one that has it.
    guard journal.isInPlace else { return }
    do {
      take(&replay)
      try compact(writer, &replay, base: base)
      nextCompaction = isBeingWritten ? writer.logByteCount + options.logLimit : 0
      isLogLeftLong = false
    } catch let error as FileError where error.code == .changed {
      // Another program has overwritten the file, or taken its name. The next write finds out, and finds the log too long.
    } catch {
      // The set values are in the log. If the disk is full the log can grow on, and this is retried later.
      putOff(error, length: writer.logByteCount)
    }
  }

  /// Puts a background compaction's result in place, or compacts now if the result is useless.
  ///
  /// - Throws: ``FileError`` `.busy` while other processes have the journal or the directory locked. A later
  ///   call continues where this one stopped.
  func finish(_ prepared: PreparedDomainCompaction?, _ replay: inout Replay) throws {
    guard !isReadOnly, journal.isInPlace else { return }
    try write(&replay) { replay, writer in
      take(&replay)
      do {
        if let prepared, try place(prepared, writer, &replay) { return }
      } catch let error as FileError where error.code == .busy || error.code == .changed {
        throw error
      } catch {
        return putOff(error, length: writer.logByteCount)
      }
      if isCompactionDue { compactNow(writer, &replay) }
    }
  }

  /// Returns whether nothing is left to do.
  private func place(
    _ prepared: PreparedDomainCompaction, _ writer: Journal.Writer, _ replay: inout Replay
  ) throws -> Bool {
    let draft = prepared.draft
    if prepared.isInJournal {
      // Another checkpoint has been written since, with its file.
      guard published == draft.published else { return true }
    } else {
      let end = journal.recordOffset
      // Edits are compared with the checkpoint that still exists here.
      guard try draft.isExpected(foundFile()), try writer.finish(prepared.journal) else {
        return false
      }
      prepared.isInJournal = true
      moveChanges(from: end, to: draft.checkpoint)
      (nextCompaction, isLogLeftLong) = (0, false)
    }
    if try !publish(draft) {
      compactNow(writer, &replay, base: try prepared.replacedCheckpoint())
    }
    return true
  }

  /// Notes where the changes are in a new file, which begins with another checkpoint and has the same records at its end.
  private func moveChanges(from oldEnd: UInt64, to checkpoint: Journal.Checkpoint) {
    let end = journal.recordOffset
    let start = end - UInt64(journal.logByteCount)
    let changes = sources.changes
    begin(from: checkpoint.bytes)
    sources.changes = changes.compactMap { change in
      // Those before are in the checkpoint.
      guard change.offset + end >= start + oldEnd else { return nil }
      return KeyChange(
        key: change.key, offset: change.offset + end - oldEnd, stamp: change.stamp)
    }
  }

  /// Notes that a checkpoint that was written here has all stamps.
  func begin(from checkpoint: Data) {
    sources.block = KeyStamps.block(of: checkpoint).map { Data(checkpoint[$0]) }
    (sources.floor, sources.changes) = (.none, [])
  }

  private func foundFile() throws -> FoundFile {
    let status = try POSIXDisk().statusFollowingLinks(plist.path(percentEncoded: false))
    return FoundFile(status) { [plist] in try AtomicFile(plist).read() }
  }

  /// Reports why a compaction failed, and retries when the log has grown.
  private func putOff(_ error: any Error, length: Int) {
    nextCompaction = length + options.logLimit
    problems.add(PreferencesError(error, domain: name))
  }
}
