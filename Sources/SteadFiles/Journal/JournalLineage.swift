import CSteadFiles
import Foundation

/// The list, in the header page, of earlier files that a journal's file contains, and up to which record.
///
/// Like a vector clock with one entry for each lost file. An owner that had received an earlier file up to a position
/// looks that file up. If it is listed up to there, the owner's memory has nothing that this file lacks. If it is listed up to an
/// earlier position, or not at all, the owner compares record by record, by their stamps, and appends what is newer.
///
/// Invariant: an entry never claims more than the file contains. Entries may be missing, which costs comparisons, never data.
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

  /// The number by which entries name a file: its salt, combined with its generation if it has an entry of origins.
  ///
  /// A copy has the salt of the original. Before other records are appended to it, it gets a new generation
  /// (``Journal/raiseGeneration(of:tail:)``), and so another number.
  static func identity(of file: MappedFile, _ header: JournalHeader) -> UInt64 {
    identity(of: file, salt: header.salt)
  }

  static func identity(of file: MappedFile, salt: UInt64) -> UInt64 {
    guard file.byteCount >= JournalLayout.headerByteCount,
      file.word(at: JournalLayout.origins) != 0
    else { return salt }
    // Generations differ mostly in their low bits. The product spreads them over the whole word.
    let identity = salt ^ file.word(at: JournalLayout.generation) &* 0x9E37_79B9_7F4A_7C15
    // 0 ends the list.
    return identity == 0 ? 1 : identity
  }

  /// Up to where an earlier file's records are contained; nil if it isn't listed.
  ///
  /// Entries of records that an owner has restored from memory don't count: it may have known other contents of a file that
  /// was overwritten.
  func containedTail(of salt: UInt64) -> UInt64? {
    entries.filter { $0.lost.salt == salt && !$0.isRestored }.map(\.lost.offset).max()
  }

  /// Up to where a lost file's records are contained; nil if nothing is known of that file.
  func tail(of salt: UInt64) -> UInt64? {
    entries.filter { $0.lost.salt == salt }.map(\.lost.offset).max()
  }

  /// Adds an entry, or raises the one of the same record.
  mutating func add(_ entry: Entry) {
    let same = entries.firstIndex { $0.lost.salt == entry.lost.salt && $0.record == entry.record }
    if let same {
      entries[same].lost.offset = max(entries[same].lost.offset, entry.lost.offset)
      return
    }
    entries.append(entry)
    // An owner that had the forgotten file open compares all that it has received, which costs time and nothing else.
    if entries.count > Self.limit { entries.removeFirst() }
  }

  /// The third word of an entry that holds as long as all records that end at an offset or before are intact.
  ///
  /// It is odd, which tells it from the offset of a record, a multiple of 8.
  static func extent(_ end: some BinaryInteger) -> UInt64 { UInt64(end) | 1 }

  /// Adds the entries of a file that is replaced by one that contains it.
  ///
  /// - Parameter extent: Up to where the records of the new file contain the old one.
  mutating func inherit(_ older: JournalLineage, extent: UInt64 = 0) {
    for entry in older.entries where !entry.isRestored {
      guard containedTail(of: entry.lost.salt).map({ $0 < entry.lost.offset }) ?? true else {
        continue
      }
      add(Entry(lost: entry.lost, record: extent))
    }
  }

  /// Completes the entry of a record that was being written, or removes it if `lost` is nil, since none was.
  mutating func complete(_ lost: Journal.Place?, of salt: UInt64, begunAt record: UInt64) {
    entries.removeAll { $0.lost.salt == salt && $0.record == record }
    if let lost { add(Entry(lost: lost, record: record)) }
  }

  /// The entries that still hold once the records behind an offset are lost.
  func prefix(endingAt end: Int, restoredEnd: UInt64) -> JournalLineage {
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
      // The salt comes last: a reader without the lock takes an entry without one for the end of the list.
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
  /// Whether a file that was just opened may lack something that the owner has received of the one before.
  ///
  /// True in case of doubt: a needless recovery costs a comparison, a missed one loses changes. That the file is intact says
  /// nothing, as another process may have found the loss first, and made it.
  ///
  /// - Parameter held: What the owner has received.
  func mayLackRecords(_ opened: Opened, since held: Place) -> Bool {
    // An owner that may only read can't restore anything, and shows what the file has.
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
    guard isPreviousIntact else { return true }
    return opened.lineage.containedTail(of: held.salt).map { $0 < held.offset } ?? true
  }

  /// Ends what ``isRecovering`` began, and returns up to where the owner knew the lost file.
  @discardableResult
  package func endRecovery() -> Place? {
    defer { (isRecovering, lostPosition) = (false, nil) }
    return lostPosition
  }

  /// Calls `body`, which appends one record or none, and lists it as one that restores a lost file up to a position. Requires
  /// the lock.
  ///
  /// The entry is written before the record with an offset of 0, and completed after it. A process that is killed in between leaves
  /// an entry that claims nothing.
  func restore(_ lost: Place, _ body: () throws -> Void) throws {
    // Listed before the record exists: an older version would take the record for a change that somebody has made since.
    let record = position
    var list = JournalLineage(file)
    list.add(JournalLineage.Entry(lost: Place(salt: lost.salt, offset: 0), record: record))
    list.store(in: file)
    try body()
    list = JournalLineage(file)
    // Without a record of its own the entry must not label the next one, which somebody else writes.
    let isWritten = position > record
    list.complete(isWritten ? lost : nil, of: lost.salt, begunAt: record)
    list.inherit(lineage, extent: JournalLineage.extent(position))
    list.store(in: file)
    lineage.inherit(list)
  }
}
