import CSteadFiles
import Foundation

// Several processes may have had a lost file open, and each knows its contents up to where it had read.
// Documentation/JournalFile.md says who restores what.
extension Journal {
  /// What others have written into the file that replaces a lost one.
  package struct Restoration {
    /// Records that were set after the loss. They are newer than anything that the owner has in memory.
    package var newer: [Data] = []
    /// Records that restore another lost file, of which this process knows nothing, or less. Whether they are newer than
    /// what the owner has in memory is known only for what the owner has written itself.
    package var rivals: [Data] = []
  }

  /// Whether another process has restored the lost file that knew it at least as far as this one.
  package var isRestored: Bool {
    guard let lostPlace else { return false }
    return JournalLineage(file).tail(of: lostPlace.salt).map { $0 >= lostPlace.offset } ?? false
  }

  /// Up to where another process has restored the lost file; nil if nobody has.
  package var restoredOffset: UInt64? {
    // 0: somebody has begun to restore it, and may have been ended before anything was written.
    lostPlace.flatMap { JournalLineage(file).tail(of: $0.salt) }.flatMap { $0 == 0 ? nil : $0 }
  }

  /// What others have written since the file was lost, without the records that restore it.
  package func restoration() -> Restoration {
    var restoration = Restoration()
    let entries = JournalLineage(file).entries
    let restored = Int(truncatingIfNeeded: file.word(at: JournalLayout.restoredEnd))
    var offset = restored % 8 == 0 ? max(header.logStart, restored) : header.logStart
    var space = JournalSpace()
    let log = JournalLog(bytes: file.bytes, seed: seed)
    while offset < position,
      let (payload, _) = log.copy(
        at: offset, limit: min(Int(position), file.byteCount), into: &space)
    {
      let restoring = entries.filter { $0.record == offset }
      if restoring.isEmpty {
        restoration.newer.append(Data(payload))
      } else if !restoring.contains(where: { $0.lost.salt == lostPlace?.salt }) {
        restoration.rivals.append(Data(payload))
      }
      offset = JournalLog.end(ofPayloadAt: offset, payload)
    }
    return restoration
  }

  /// Whether a file that was just opened replaces the open one, and lacks something that the owner has received.
  ///
  /// Another process may have found the loss first, and made a file that is intact.
  ///
  /// - Parameter held: What the owner has received.
  func lacksRecords(_ opened: Opened, since held: Place) -> Bool {
    // Who may only read shows what the files hold.
    guard access == .readWrite else { return false }
    if opened.isPartial { return true }
    if let tail = JournalLineage(opened.file).tail(of: held.salt) { return tail < held.offset }
    if opened.header.salt == held.salt {
      return opened.file.word(at: JournalLayout.tail) & ~JournalLayout.flags < held.offset
    }
    // The child of a fork has nothing left of the file that it had open, whose successor this may be.
    if file.isInherited { return false }
    // A copy of an older file may have taken the successor's place meanwhile.
    let isSuccessor = opened.generation == 0 || opened.generation > heldGeneration
    return !(isSucceeded && isSuccessor)
  }

  /// Whether the open file says that another one, which contains it, has taken or is about to take its name.
  ///
  /// A file that was replaced because it was damaged has a tail of 0.
  private var isSucceeded: Bool {
    let word = file.word(at: JournalLayout.tail)
    return word & JournalLayout.flags != 0
      && word & ~JournalLayout.flags >= UInt64(JournalLayout.headerByteCount) && !file.isLost
  }

  /// Ends what ``isRecovering`` began, and returns up to where the owner knew the lost file.
  @discardableResult
  package func endRecovery() -> Place? {
    defer { (isRecovering, lostPlace) = (false, nil) }
    return lostPlace
  }

  /// Calls `body`, which appends one record or none, and notes that it restores a lost file up to a place. Requires the
  /// lock.
  func restore(_ lost: Place, _ body: () throws -> Void) throws {
    // Noted before, so that nobody takes the record for a newer one if this process is killed in between.
    let record = position
    note(JournalLineage.Entry(lost: Place(salt: lost.salt, offset: 0), record: record))
    try body()
    note(JournalLineage.Entry(lost: lost, record: record))
  }

  private func note(_ entry: JournalLineage.Entry) {
    var list = JournalLineage(file)
    list.inherit(lineage)
    list.note(entry)
    list.store(in: file)
    lineage.inherit(list)
  }
}
