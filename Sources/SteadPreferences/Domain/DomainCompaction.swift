import Foundation
import SteadFiles

extension DomainStore {
  /// Starts the compaction that a write found due. Callers wait for it only in its last step.
  @inline(never)
  func compactLater() {
    do {
      // A plain thread, which also works in the child of a fork, where Dispatch does not.
      try DetachedThread.start { self.compact() }
    } catch {
      // No thread can be created, so the writer compacts, or the log would grow without limit.
      compact()
    }
  }

  /// How long a background compaction waits for a process that has the files locked.
  private static let compactionWaitLimit = Duration.seconds(10)

  /// Compacts until the log is short enough, and only then lets another compaction begin.
  private func compact() {
    var isDue = true
    while isDue { isDue = compactOnce() }
    // Not before its last file is gone: when none runs, there is no temporary file of one either.
    state.withLock { $0.file?.compaction.phase = .none }
  }

  /// Compacts once, and returns whether writes have made the log too long again meanwhile.
  private func compactOnce() -> Bool {
    let location = state.withLock { state in
      state.file.map { file in
        (directory: file.directory, hasReportedFormat: file.plistState.hasReportedFormat)
      }
    }
    guard let location else { return false }
    // An error recurs in the compaction under the lock, which ``finish(_:isLast:)`` makes without a
    // prepared one, and reports.
    let prepared = try? PreparedDomainCompaction(
      name, in: location.directory, options, hasReportedFormat: location.hasReportedFormat)
    let deadline = ContinuousClock.now + Self.compactionWaitLimit
    var pause: useconds_t = 20
    var result = finish(prepared, isLast: false)
    while result == .waits {
      // No caller waits for this thread, so it yields to writers.
      usleep(pause)
      pause = min(pause * 2, 10_000)
      result = finish(prepared, isLast: ContinuousClock.now >= deadline)
    }
    // The old files are released with it, which takes the system longer than putting the new ones
    // in place.
    withExtendedLifetime(prepared) {}
    return result == .isDueAgain
  }

  /// The result of an attempt to finish a compaction.
  enum FinishedCompaction { case ended, isDueAgain, waits }

  /// Tries to put a prepared compaction in place, without waiting for other processes.
  ///
  /// - Parameter isLast: Whether to give up if it is impossible now. A later write finds a
  ///   compaction due again.
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

// MARK: - Preparing

/// A new checkpoint with its property list, prepared beside the domain's writers.
///
/// It opens the domain's files once more and read-only, so that neither a copy of the table nor the
/// store's lock is needed while they are read and written. It costs the memory of a second table.
///
/// Both new files are written and synced here. Records that are appended meanwhile are copied in
/// rounds, each shorter than the one before; what is left is copied under the lock by
/// ``DomainFile/finish(_:_:)``.
final class PreparedDomainCompaction {
  /// The maximum number of rounds that copy records: writers may be faster than the copying.
  private static let roundLimit = 8
  /// The number of bytes, some hundred records, that may be left to copy under the lock.
  private static let restLimit = 16 << 10

  let journal: PreparedJournalCompaction
  let draft: CheckpointDraft
  /// Whether the journal has the checkpoint, so that only the property list file has yet to be put
  /// in place.
  var isInJournal = false
  /// The files as of the preparation. It keeps the old journal open, whose checkpoint may be the
  /// base of an edit.
  private let source: DomainFile

  /// Prepares a compaction; nil if something else has to be done first, such as merging an edit of
  /// the property list.
  ///
  /// - Parameter hasReportedFormat: Whether it was reported that XML cannot hold the domain.
  /// - Throws: ``FileError``, such as `.noSpace`; ``PreferencesError`` for files that cannot be
  ///   read.
  init?(
    _ name: String, in directory: URL, _ options: DomainStore.Options, hasReportedFormat: Bool
  ) throws {
    var options = options
    // It creates and repairs nothing: the domain's own file does that.
    options.isReadOnly = true
    source = try DomainFile(name: name, directory: directory, options: options)
    source.plistState.hasReportedFormat = hasReportedFormat
    var replay = Replay(table: DomainTable(), byteCount: nil, isCollecting: false)
    try source.readJournal(&replay)
    // A merge needs the journal's lock. It is left to the compaction that has it.
    guard try source.externalEdits() == nil, !source.plistState.isBeingWritten,
      source.problems.isEmpty
    else {
      return nil
    }
    draft = try CheckpointDraft(of: replay.table, for: source)
    guard source.problems.isEmpty else { return nil }
    journal = try source.journal.compaction(to: draft.checkpoint).prepare()
    for _ in 0..<Self.roundLimit {
      // Only the position advances. The table of the checkpoint is not needed any more.
      try source.journal.read { _ in }
      guard let count = try journal.advance(to: source.journal) else { return nil }
      if count <= Self.restLimit { return }
    }
  }

  /// The contents of the checkpoint that this one replaces: what an editor of the property list
  /// started from.
  func replacedCheckpoint() throws -> DomainTable {
    try DomainTable(propertyList: source.journal.checkpointBytes())
  }
}

// MARK: - When to compact

extension DomainFile {
  /// A log longer than this, in bytes, and than twice the checkpoint, is compacted in the
  /// background.
  ///
  /// With it a small domain takes less than 256 KiB including all its files, unless it is written
  /// faster than it can be compacted.
  static let logLimit = 180 << 10
  /// A log longer than this, in bytes, and than eight times the checkpoint, is compacted while its
  /// writer waits: back-pressure.
  ///
  /// A program reaches it by writing hundreds of thousands of values while the disk handles one.
  static let waitingLogLimit = 16 << 20

  /// When the log is compacted next, and whether that is going on.
  struct CompactionState {
    var phase = BackgroundCompaction.none
    /// The log length at which to compact again after a failure; 0 if there was none.
    var retryLogLength = 0
    /// Whether the log was far too long when the domain was opened, and has not been compacted
    /// since.
    var isOverdue = false
  }

  /// The state of the background compaction, of which there is at most one per store.
  enum BackgroundCompaction: Equatable {
    case none
    /// A write has found it due; the store starts it after releasing its lock.
    case due
    /// It is running, in the process with that number of forks: the child of a fork lacks its
    /// thread.
    case running(generation: UInt64)
  }

  /// Makes a compaction due if the log is long enough, or compacts now if the log is far too long.
  func compactIfDue(_ writer: Journal.Writer, _ replay: inout Replay) {
    let length = writer.logByteCount
    guard isCompactionDue else { return }
    // Back-pressure: the writers are faster than the disk.
    let limit = max(
      options.waitingLogLimit, 8 * writer.checkpointByteCount, compaction.retryLogLength)
    if compaction.isOverdue || length > limit { return compactNow(writer, &replay) }
    if compaction.phase != .running(generation: forkGeneration) { compaction.phase = .due }
  }

  /// Records whether other programs have left an overlong log.
  ///
  /// Programs that end before their background compaction does would let the log grow without
  /// limit. So a log that is a quarter longer than due when the domain is opened is compacted by
  /// the first write.
  func recordLogLength() {
    let due = dueLength(checkpoint: journal.checkpointByteCount)
    compaction.isOverdue = journal.logByteCount > due + due / 4
  }

  /// Whether the log is longer than ``logLimit`` and than twice the checkpoint. The factor makes
  /// compaction cost a constant per written byte, however large the domain is.
  var isCompactionDue: Bool {
    journal.logByteCount > dueLength(checkpoint: journal.checkpointByteCount)
  }

  private func dueLength(checkpoint: Int) -> Int {
    max(options.logLimit, 2 * checkpoint, compaction.retryLogLength)
  }

  /// Compacts while this writer and others wait.
  ///
  /// Never throws: the values that were set are in the log already, and a compaction that failed is
  /// tried again later.
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
      // Nothing was compacted if a tool may be writing the property list: try again when the
      // log has grown.
      compaction.retryLogLength =
        plistState.isBeingWritten ? writer.logByteCount + options.logLimit : 0
      compaction.isOverdue = false
    } catch let error as FileError where error.code == .changed {
      // Another program has overwritten the file, or taken its name. The next write finds out, and
      // finds the log too long.
    } catch {
      // The set values are in the log. If the disk is full the log can grow on, and this is retried
      // later.
      postponeCompaction(error, length: writer.logByteCount)
    }
  }

  // MARK: - Putting it in place

  /// Puts a background compaction in place, or compacts now if it has become useless.
  ///
  /// - Throws: ``FileError`` `.busy` while another process has the journal or the directory locked.
  ///   A later call goes on where this one has stopped.
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
      // The prepared files are useless, as after another process's compaction or an edit.
      if isCompactionDue { compactNow(writer, &replay) }
    }
  }

  /// Puts the prepared files in place, and returns whether nothing is left to do.
  ///
  /// In two steps, either of which may throw `.busy`: first the journal, then the property list.
  /// After the first the new checkpoint is in effect, and `isInJournal` says so.
  private func install(
    _ prepared: PreparedDomainCompaction, _ writer: Journal.Writer, _ replay: inout Replay
  ) throws -> Bool {
    let draft = prepared.draft
    if prepared.isInJournal {
      // Another checkpoint has been written since, with its file.
      guard plistState.published == draft.published else { return true }
    } else {
      // The records up to here are in the new checkpoint or copied by `finish`; offsets move with
      // them.
      let end = journal.recordOffset
      // Edits are compared with the checkpoint that still exists here.
      guard try draft.isExpected(foundFile()), try writer.finish(prepared.journal) else {
        return false
      }
      prepared.isInJournal = true
      moveChanges(from: end, to: draft.checkpoint)
      (compaction.retryLogLength, compaction.isOverdue) = (0, false)
    }
    if try !publish(draft) {
      // The property list was edited since this was prepared. The editor's base is the
      // checkpoint before this one.
      compactNow(writer, &replay, base: try prepared.replacedCheckpoint())
    }
    return true
  }

  /// Translates the offsets of recorded changes to the new file, which begins with another
  /// checkpoint and ends with the same records.
  private func moveChanges(from oldEnd: UInt64, to checkpoint: Journal.Checkpoint) {
    let end = journal.recordOffset
    let start = end - UInt64(journal.logByteCount)
    let changes = stampSources.changes
    resetStamps(to: checkpoint.bytes)
    stampSources.changes = changes.compactMap { change in
      // Those before are in the checkpoint. In unsigned numbers, so both sides are sums.
      guard change.offset + end >= start + oldEnd else { return nil }
      return KeyChange(
        key: change.key, offset: change.offset + end - oldEnd, stamp: change.stamp)
    }
  }

  /// Starts over with the stamps in a checkpoint that was just written and has all of them.
  func resetStamps(to checkpoint: Data) {
    stampSources.block = KeyStamps.block(of: checkpoint).map { Data(checkpoint[$0]) }
    (stampSources.floor, stampSources.changes) = (.none, [])
  }

  /// The property list as it is now, read only if its status does not suffice.
  private func foundFile() throws -> FoundFile {
    let status = try POSIXDisk().statusFollowingLinks(plist.path(percentEncoded: false))
    return FoundFile(status) { [plist] in try AtomicFile(plist).read() }
  }

  /// Reports why a compaction failed, and lets the log grow by ``logLimit`` before the next
  /// attempt.
  private func postponeCompaction(_ error: any Error, length: Int) {
    compaction.retryLogLength = length + options.logLimit
    problems.add(PreferencesError(error, domain: name))
  }
}
