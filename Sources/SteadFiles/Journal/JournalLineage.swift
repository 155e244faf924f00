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
    /// Where the record begins that was written to restore them; 0 when none was, or it has been compacted.
    var record: UInt64
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

  /// Adds the entries of a file that is replaced by one that contains it. Their records are elsewhere there, if at all.
  mutating func inherit(_ older: JournalLineage) {
    for entry in older.entries {
      guard tail(of: entry.lost.salt).map({ $0 < entry.lost.offset }) ?? true else { continue }
      note(Entry(lost: entry.lost, record: 0))
    }
  }

  /// The entries that still hold for a file of whose records only those are left that end before an offset.
  func cut(at end: Int, restoredEnd: UInt64) -> JournalLineage {
    var left = JournalLineage()
    // What was contained without a record of its own was so in the checkpoint or before the restored end.
    left.entries = entries.filter { $0.record == 0 ? restoredEnd <= end : $0.record < end }
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
  }

  /// The list as a file has it.
  var bytes: Data {
    let words = entries.flatMap { [$0.lost.salt, $0.lost.offset, $0.record] }
    return words.map(\.littleEndian).withUnsafeBytes { Data($0) }
  }
}
