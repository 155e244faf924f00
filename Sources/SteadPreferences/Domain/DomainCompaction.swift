import Foundation
import SteadFiles

extension DomainStore {
  /// Begins the compaction that a write found due, and keeps nobody waiting except for its last step.
  @inline(never)
  func compactLater() {
    do {
      try DetachedThread.start { self.compact() }
    } catch {
      compact()
    }
  }

  /// How long a background compaction waits for another process that has the files locked.
  private static let compactionWaitLimit = Duration.seconds(10)

  private func compact() {
    var isDue = true
    while isDue { isDue = compactOnce() }
    // Not before its last file is gone: whoever sees that none runs finds no file of one either.
    state.withLock { $0.file?.compaction = .none }
  }

  /// Compacts, and returns whether the log has become too long again through writes meanwhile.
  private func compactOnce() -> Bool {
    let location = state.withLock { state in
      state.file.map { file in
        (directory: file.directory, hasReportedFormat: file.hasReportedFormat)
      }
    }
    guard let location else { return false }
    // Any obstacle recurs in the compaction that others wait for, which reports it.
    let prepared = try? PreparedDomainCompaction(
      name, in: location.directory, options, hasReportedFormat: location.hasReportedFormat)
    let deadline = ContinuousClock.now + Self.compactionWaitLimit
    var pause: useconds_t = 20
    var result = finish(prepared, isLast: false)
    while result == .waits {
      usleep(pause)
      pause = min(pause * 2, 10_000)
      result = finish(prepared, isLast: ContinuousClock.now >= deadline)
    }
    // The old files are released with it, which takes the system longer than putting the new ones in place.
    withExtendedLifetime(prepared) {}
    return result == .isDueAgain
  }

  /// The result of an attempt to finish a compaction.
  enum FinishedCompaction { case ended, isDueAgain, waits }

  /// Never waits for other processes.
  ///
  /// - Parameter isLast: Whether to give up if it is impossible now. A later write finds it due again.
  @discardableResult
  func finish(_ prepared: PreparedDomainCompaction?, isLast: Bool) -> FinishedCompaction {
    let (result, hasPendingEvents) = state.withLock { state -> (FinishedCompaction, Bool) in
      guard let file = state.file else { return (.ended, false) }
      var result = FinishedCompaction.ended
      let hasPendingEvents = state.reporting(file) { replay in
        do {
          try file.finish(prepared, &replay)
          // An attempt that made no difference must not be repeated forever.
          if prepared?.isInJournal == true, file.isCompactionDue { result = .isDueAgain }
        } catch let error as FileError where error.code == .busy || error.code == .changed {
          guard isLast else {
            result = .waits
            return
          }
          // The journal is intact, but the property list file remains the old one.
          if prepared?.isInJournal == true { throw PreferencesError(error, domain: name) }
        }
      }
      return (result, hasPendingEvents)
    }
    if hasPendingEvents { deliver() }
    return result
  }
}

/// A checkpoint and a property list file that were prepared in the background.
///
/// The domain's files are read again, so that nobody waits for a copy of the memory. Until it is done it
/// costs the memory of a second table.
final class PreparedDomainCompaction {
  /// The maximum number of times that records written meanwhile are copied.
  private static let roundLimit = 8
  /// The number of bytes, some hundred records, that may be left to copy under the lock.
  private static let restLimit = 16 << 10

  let journal: PreparedJournalCompaction
  let draft: CheckpointDraft
  /// Whether the journal has the checkpoint, so that only the property list file has yet to be put in place.
  var isInJournal = false
  /// Has the old journal open.
  private let source: DomainFile

  /// nil if something else has to be done first, such as applying an edit of the property list.
  ///
  /// - Parameter isToldOfFormat: Whether it was reported that XML cannot hold the domain.
  /// - Throws: ``FileError``, such as `.noSpace`; ``PreferencesError`` for files that cannot be read.
  init?(
    _ name: String, in directory: URL, _ options: DomainStore.Options, hasReportedFormat: Bool
  ) throws {
    var options = options
    options.isReadOnly = true
    source = try DomainFile(name: name, directory: directory, options: options)
    source.hasReportedFormat = hasReportedFormat
    var replay = Replay(table: DomainTable(), byteCount: nil, isCollecting: false)
    try source.readJournal(&replay)
    guard try source.externalEdits() == nil, !source.isBeingWritten, source.problems.isEmpty else {
      return nil
    }
    draft = try CheckpointDraft(of: replay.table, for: source)
    guard source.problems.isEmpty else { return nil }
    journal = try source.journal.compaction(to: draft.checkpoint).prepare()
    for _ in 0..<Self.roundLimit {
      try source.journal.read { _ in }
      guard let count = try journal.advance(to: source.journal) else { return nil }
      if count <= Self.restLimit { return }
    }
  }

  /// The checkpoint that this one replaces, from which the editor of the property list started.
  func replacedCheckpoint() throws -> DomainTable {
    try DomainTable(propertyList: source.journal.checkpointBytes())
  }
}

// MARK: - When to compact

extension DomainFile {
  /// The state of the compaction that runs in the background.
  enum BackgroundCompaction: Equatable {
    case none
    /// The store has to begin it.
    case due
    /// It is running in the process with that number of forks. The child of a fork lacks its thread.
    case running(generation: UInt64)
  }

  /// Has the log compacted, if it is long enough.
  func compactIfDue(_ writer: Journal.Writer, _ replay: inout Replay) {
    let length = writer.logByteCount
    guard isCompactionDue else { return }
    let limit = max(options.waitingLogLimit, 8 * writer.checkpointByteCount, nextCompaction)
    if isLogOverdue || length > limit { return compactNow(writer, &replay) }
    if compaction != .running(generation: forkGeneration) { compaction = .due }
  }

  /// Notes how long a log other processes have left.
  ///
  /// Programs that end before their background compaction is done would let it grow without limit.
  func recordLogLength() {
    let due = dueLength(checkpoint: journal.checkpointByteCount)
    isLogOverdue = journal.logByteCount > due + due / 4
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
      recordPublished(&replay)
      try compact(writer, &replay, base: base)
      nextCompaction = isBeingWritten ? writer.logByteCount + options.logLimit : 0
      isLogOverdue = false
    } catch let error as FileError where error.code == .changed {
      // Another program has overwritten the file, or taken its name. The next write finds out, and finds the log too long.
    } catch {
      // The set values are in the log. If the disk is full the log can grow on, and this is retried later.
      postponeCompaction(error, length: writer.logByteCount)
    }
  }

  /// Puts a background compaction's result in place, or compacts now if the result is useless.
  ///
  /// - Throws: ``FileError`` `.busy` while other processes have the journal or the directory locked. A later
  ///   call continues where this one stopped.
  func finish(_ prepared: PreparedDomainCompaction?, _ replay: inout Replay) throws {
    guard !isReadOnly, journal.isInPlace else { return }
    try write(&replay) { replay, writer in
      recordPublished(&replay)
      do {
        if let prepared, try install(prepared, writer, &replay) { return }
      } catch let error as FileError where error.code == .busy || error.code == .changed {
        throw error
      } catch {
        return postponeCompaction(error, length: writer.logByteCount)
      }
      if isCompactionDue { compactNow(writer, &replay) }
    }
  }

  /// Returns whether nothing is left to do.
  private func install(
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
      (nextCompaction, isLogOverdue) = (0, false)
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
    let changes = stampSources.changes
    resetStamps(to: checkpoint.bytes)
    stampSources.changes = changes.compactMap { change in
      // Those before are in the checkpoint.
      guard change.offset + end >= start + oldEnd else { return nil }
      return KeyChange(
        key: change.key, offset: change.offset + end - oldEnd, stamp: change.stamp)
    }
  }

  /// Notes that a checkpoint that was written here has all stamps.
  func resetStamps(to checkpoint: Data) {
    stampSources.block = KeyStamps.block(of: checkpoint).map { Data(checkpoint[$0]) }
    (stampSources.floor, stampSources.changes) = (.none, [])
  }

  private func foundFile() throws -> FoundFile {
    let status = try POSIXDisk().statusFollowingLinks(plist.path(percentEncoded: false))
    return FoundFile(status) { [plist] in try AtomicFile(plist).read() }
  }

  /// Reports why a compaction failed, and retries when the log has grown.
  private func postponeCompaction(_ error: any Error, length: Int) {
    nextCompaction = length + options.logLimit
    problems.add(PreferencesError(error, domain: name))
  }
}
