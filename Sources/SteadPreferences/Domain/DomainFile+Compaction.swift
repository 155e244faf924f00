import Foundation
import SteadFiles

extension DomainFile {
  /// Where the compaction stands that is made beside those who write.
  enum BackgroundCompaction: Equatable {
    case none
    /// The store is to begin it.
    case due
    /// It is under way in the process of that count of forks. The child of a fork has no thread that does it.
    case underWay(generation: UInt64)
  }

  /// Sees to it that the log is compacted, if it is long enough.
  func compactIfDue(_ writer: Journal.Writer, _ replay: inout Replay) {
    let length = writer.logByteCount
    guard isCompactionDue else { return }
    let limit = max(options.waitingLogLimit, 8 * writer.checkpointByteCount, nextCompaction)
    if isLogLeftLong || length > limit { return compactNow(writer, &replay) }
    if compaction != .underWay(generation: forkGeneration) { compaction = .due }
  }

  /// Notes how long the log is that others have left.
  ///
  /// Programs that end before they have compacted beside their work would let it grow and grow.
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
    // A file that has lost its name is not to be put in the place of the one that has it.
    guard journal.isInPlace else { return }
    do {
      take(&replay)
      try compact(writer, &replay, base: base)
      nextCompaction = isBeingWritten ? writer.logByteCount + options.logLimit : 0
      isLogLeftLong = false
    } catch {
      // What was set is in the log. Where the disk is full the log can grow on, and this be tried later.
      putOff(error, length: writer.logByteCount)
    }
  }

  /// Puts in place what was prepared beside those who write, or compacts now where that was of no use.
  ///
  /// - Throws: ``FileError`` `.busy` while others have the journal or the directory locked. It goes on where it
  ///   was when it is called again then.
  func finish(_ prepared: PreparedDomainCompaction?, _ replay: inout Replay) throws {
    guard !isReadOnly, journal.isInPlace else { return }
    try write(&replay) { replay, writer in
      take(&replay)
      do {
        if let prepared, try place(prepared, writer, &replay) { return }
      } catch let error as FileError where error.code == .busy {
        throw error
      } catch {
        return putOff(error, length: writer.logByteCount)
      }
      if isCompactionDue { compactNow(writer, &replay) }
    }
  }

  /// Says whether nothing is left to be done.
  private func place(
    _ prepared: PreparedDomainCompaction, _ writer: Journal.Writer, _ replay: inout Replay
  ) throws -> Bool {
    let draft = prepared.draft
    if prepared.isInJournal {
      // Another checkpoint has come since, and its file.
      guard published == draft.published else { return true }
    } else {
      // Edits are compared with the checkpoint that is still here.
      guard try draft.isExpected(foundFile()), try writer.finish(prepared.journal) else {
        return false
      }
      prepared.isInJournal = true
      (nextCompaction, isLogLeftLong) = (0, false)
    }
    if try !publish(draft) {
      compactNow(writer, &replay, base: try prepared.replacedCheckpoint())
    }
    return true
  }

  private func foundFile() throws -> FoundFile {
    let status = try POSIXDisk().statusFollowingLinks(plist.path(percentEncoded: false))
    return FoundFile(status) { [plist] in try AtomicFile(plist).read() }
  }

  /// Reports why a compaction failed, and tries again when the log has grown.
  private func putOff(_ error: any Error, length: Int) {
    nextCompaction = length + options.logLimit
    problems.add(PreferencesError(error, domain: name))
  }
}
