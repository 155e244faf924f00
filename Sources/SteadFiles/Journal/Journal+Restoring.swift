import CSteadFiles
import Foundation

// Several processes may have had a lost file open, and each knows its contents up to where it had read.
// Documentation/JournalFile.md says who restores what.
extension Journal {
  /// Whether another process has restored the lost file that knew it at least as far as this one.
  package var isRestored: Bool {
    guard let lostPlace else { return false }
    return file.word(at: JournalLayout.restoredSalt) == lostPlace.salt
      && file.word(at: JournalLayout.restoredTail) >= lostPlace.offset
  }

  /// The records that were written since the file was lost, without those that restore it.
  ///
  /// What they say is newer than anything that the owner has in memory.
  package func recordsSinceLoss() -> [Data] {
    let restored = Int(truncatingIfNeeded: file.word(at: JournalLayout.restoredEnd))
    var offset = restored % 8 == 0 ? max(header.logStart, restored) : header.logStart
    var records: [Data] = []
    var space = JournalSpace()
    let log = JournalLog(bytes: file.bytes, seed: seed)
    while offset < position,
      let (payload, _) = log.copy(
        at: offset, limit: min(Int(position), file.byteCount), into: &space)
    {
      records.append(Data(payload))
      offset = JournalLog.end(ofPayloadAt: offset, payload)
    }
    return records
  }

  /// Whether a file that was just opened replaces the open one, and lacks something that the owner has received.
  ///
  /// Another process may have found the loss first, and made a file that is intact.
  func lacksRecords(_ opened: Opened) -> Bool {
    guard position != 0 else { return false }
    if opened.isPartial { return true }
    let restored = opened.file.word(at: JournalLayout.restoredSalt)
    return restored == JournalLayout.unknownSalt
      || restored == salt && opened.header.salt != salt
        && opened.file.word(at: JournalLayout.restoredTail) < position
  }

  /// Ends what ``isRecovering`` began, and returns up to where the owner knew the lost file.
  @discardableResult
  package func endRecovery() -> Place? {
    defer { (isRecovering, lostPlace) = (false, nil) }
    return lostPlace
  }

  /// Notes that the records so far restore a lost file up to a place. Requires the lock.
  func noteRestoration(of lost: Place) {
    // What was set after the first restoration is newer, whatever others restore later.
    let count = file.word(at: JournalLayout.restorations)
    if count == 0 { file.setWord(position, at: JournalLayout.restoredEnd) }
    file.setWord(count &+ 1, at: JournalLayout.restorations)
    file.setWord(lost.salt, at: JournalLayout.restoredSalt)
    file.setWord(lost.offset, at: JournalLayout.restoredTail)
  }
}
