import CSteadFiles
import Foundation

/// Which lost files a journal's file contains, and how far: the list in its header page.
///
/// A program that had one of them open finds out from it whether its memory holds more than the file does.
struct JournalLineage {
  /// One lost file.
  struct Entry: Equatable {
    /// The file's salt, and up to where its records are contained; 0 while they are being written.
    var lost: Journal.Place
    /// Where the record begins that was written to restore them, or ``JournalLineage/extent(_:)`` of the records that
    /// contain them. 0 in files of older versions when none was, or it has been compacted.
    var record: UInt64

    /// Whether a program has written the lost file's contents from memory.
    var isRestored: Bool { record != 0 && record % 2 == 0 }
  }

  /// The maximum number of entries; after that the oldest is replaced.
  static let limit = 32
  private static let entryByteCount = 24

  private(set) var entries: [Entry] = []

  init() {}

  /// Reads the list of a file. Its writers hold the lock; who reads without it may miss the newest entry.
  init(_ file: MappedFile) {
    guard file.byteCount >= JournalLayout.headerByteCount else { return }
    for index in 0..<Self.limit {
      let start = JournalLayout.lineage + index * Self.entryByteCount
      let salt = file.word(at: start)
      guard salt != 0 else { return }
      entries.append(
        Entry(
          lost: Journal.Place(salt: salt, offset: file.word(at: start + 8)),
          record: file.word(at: start + 16)))
    }
  }

  /// The number by which entries name a file.
  ///
  /// It is the salt. A copy has the same salt, but has got a greater generation before other records are appended to it.
  static func identity(of file: MappedFile, _ header: JournalHeader) -> UInt64 {
    identity(of: file, salt: header.salt)
  }

  static func identity(of file: MappedFile, salt: UInt64) -> UInt64 {
    guard file.byteCount >= JournalLayout.headerByteCount,
      file.word(at: JournalLayout.origins) != 0
    else { return salt }
    let identity = salt ^ file.word(at: JournalLayout.generation) &* 0x9E37_79B9_7F4A_7C15
    // 0 ends the list.
    return identity == 0 ? 1 : identity
  }

  /// Up to where a file's records are contained that was read as a whole when it was replaced.
  ///
  /// Not what a program has restored from memory: it may have known another version of an overwritten file.
  func containedTail(of salt: UInt64) -> UInt64? {
    entries.filter { $0.lost.salt == salt && !$0.isRestored }.map(\.lost.offset).max()
  }

  /// Up to where a lost file's records are contained; nil if nothing is known of that file.
  func tail(of salt: UInt64) -> UInt64? {
    entries.filter { $0.lost.salt == salt }.map(\.lost.offset).max()
  }

  /// Adds an entry, or raises the one of the same record.
  mutating func note(_ entry: Entry) {
    let same = entries.firstIndex { $0.lost.salt == entry.lost.salt && $0.record == entry.record }
    if let same {
      entries[same].lost.offset = max(entries[same].lost.offset, entry.lost.offset)
      return
    }
    entries.append(entry)
    if entries.count > Self.limit { entries.removeFirst() }
  }

  /// Says that an entry holds as long as all records that end at an offset or before are intact.
  ///
  /// It is odd, so that no record begins there.
  static func extent(_ end: some BinaryInteger) -> UInt64 { UInt64(end) | 1 }

  /// Adds the entries of a file that is replaced by one that contains it. Their records are elsewhere there, if at all.
  ///
  /// - Parameter extent: Up to where the records of the new file contain the old one.
  mutating func inherit(_ older: JournalLineage, extent: UInt64 = 0) {
    for entry in older.entries where !entry.isRestored {
      guard containedTail(of: entry.lost.salt).map({ $0 < entry.lost.offset }) ?? true else {
        continue
      }
      note(Entry(lost: entry.lost, record: extent))
    }
  }

  /// Replaces the entry of a record that was being written; nil if none was.
  mutating func settle(_ lost: Journal.Place?, of salt: UInt64, begunAt record: UInt64) {
    entries.removeAll { $0.lost.salt == salt && $0.record == record }
    if let lost { note(Entry(lost: lost, record: record)) }
  }

  /// The entries that still hold for a file of whose records only those are left that end before an offset.
  func cut(at end: Int, restoredEnd: UInt64) -> JournalLineage {
    var left = JournalLineage()
    // What was contained without a record of its own was so in the checkpoint or before the restored end.
    left.entries = entries.filter { entry in
      if entry.record == 0 { return restoredEnd <= end }
      return entry.record % 2 == 0 ? entry.record < end : entry.record & ~1 <= end
    }
    return left
  }

  /// Writes the list into a file. Requires the lock.
  func store(in file: MappedFile) {
    for (index, entry) in entries.enumerated() {
      let start = JournalLayout.lineage + index * Self.entryByteCount
      file.setWord(entry.lost.offset, at: start + 8)
      file.setWord(entry.record, at: start + 16)
      file.setWord(entry.lost.salt, at: start)
    }
    guard entries.count < Self.limit else { return }
    file.setWord(0, at: JournalLayout.lineage + entries.count * Self.entryByteCount)
  }

  /// The list as a file has it.
  var bytes: Data {
    let words = entries.flatMap { [$0.lost.salt, $0.lost.offset, $0.record] }
    return words.map(\.littleEndian).withUnsafeBytes { Data($0) }
  }
}

// MARK: - Restoring lost files

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
