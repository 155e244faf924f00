import CSteadFiles
import Foundation

// Several processes may have had a lost file open, and each knows its contents up to where it had read.
// Documentation/JournalFile.md says who restores what.
extension Journal {
  /// Whether a file that was just opened replaces the open one, and may lack something that the owner has received.
  ///
  /// Another process may have found the loss first, and made a file that is intact.
  ///
  /// - Parameter held: What the owner has received.
  func mayLackRecords(_ opened: Opened, since held: Place) -> Bool {
    // Who may only read shows what the files hold.
    guard access == .readWrite else { return false }
    if opened.isPartial { return true }
    if opened.identity == held.salt {
      // A copy that was made before, or other records have been appended to one.
      let isSame =
        lastRecord == 0 || lineageIdentity != held.salt || lastRecord + 8 > opened.file.byteCount
        || opened.file.word(at: lastRecord) == lastWord
      return !isSame
        || opened.file.word(at: JournalLayout.tail) & ~JournalLayout.flags < held.offset
    }
    // Who has overwritten the file may have given it other records, which the entry is about.
    guard isHeldIntact else { return true }
    return opened.lineage.containedTail(of: held.salt).map { $0 < held.offset } ?? true
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
    // Noted before, so that no older version takes the record for one that somebody has set since.
    let record = position
    var list = JournalLineage(file)
    list.note(JournalLineage.Entry(lost: Place(salt: lost.salt, offset: 0), record: record))
    list.store(in: file)
    try body()
    list = JournalLineage(file)
    // Without a record of its own the entry must not label the next one, which somebody else writes.
    let isWritten = position > record
    list.settle(isWritten ? lost : nil, of: lost.salt, begunAt: record)
    list.inherit(lineage, extent: JournalLineage.extent(position))
    list.store(in: file)
    lineage.inherit(list)
  }
}
