import Foundation
import SteadFiles

// Values that were in a file that somebody has truncated, overwritten, exchanged or removed.
//
// Each program knows when every key was set last. It writes again what the file that has the name now has older, with the
// stamp that it had. So it doesn't matter who notices a loss first, nor how often files are lost meanwhile.
extension DomainFile {
  /// A key in a record.
  struct KeyChange {
    var key: String
    /// Where the record begins in the open file.
    var offset: UInt64
    var stamp: Journal.Stamp
  }

  /// What was in memory when the journal's file was read from its beginning again: if the file before was lost, it is
  /// what was lost.
  struct LostContents {
    var table: DomainTable
    var stamps: StampSources
  }

  /// From which stamps can be made. That is done only after a loss, and in a compaction.
  struct StampSources {
    /// The stamps in the checkpoint; nil when it has none.
    var block: Data?
    /// Not earlier than the last change of a key in the checkpoint that isn't in the block.
    var floor = Journal.Stamp.none
    /// The keys that were changed since the checkpoint.
    var changes: [KeyChange] = []
    /// Values in memory that restore a lost file, and are not yet in a record.
    var restoration = Restoration()

    var stamps: KeyStamps {
      var stamps = block.flatMap { KeyStamps(block: $0) } ?? KeyStamps(floor: floor)
      for change in changes { stamps.record(change.key, change.stamp) }
      for restored in restoration.edits { stamps.record(restored.edit.key, restored.stamp) }
      return stamps
    }
  }

  /// What this process has to write since a file was lost.
  struct Restoration {
    struct Restored {
      var edit: DomainEdit
      var stamp: Journal.Stamp
    }

    /// Up to where it knew the lost file; nil when nothing has to be written.
    var position: Journal.Place?
    var edits: [Restored] = []

    /// Leaves those that are newer than what the file has by now.
    mutating func drop(_ stamps: KeyStamps) {
      edits.removeAll { restored in
        stamps.known(restored.edit.key).map { $0 >= restored.stamp } ?? false
      }
    }
  }

  /// The stamps of what the open file contains.
  private var fileStamps: KeyStamps {
    var stampSources = stampSources
    stampSources.restoration = Restoration()
    return stampSources.stamps
  }

  /// Notes where the stamps are that belong to a checkpoint.
  func loadStamps(of checkpoint: UnsafeRawBufferPointer, isPublished: Bool) {
    let bytes = Data(
      bytesNoCopy: UnsafeMutableRawPointer(
        mutating: checkpoint.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!),
      count: checkpoint.count, deallocator: .none)
    let block = KeyStamps.block(of: bytes).map { Data(bytes[$0]) }
    // Older versions have written what they had read. What was made from the property list is older than anything.
    stampSources.floor = block == nil && isPublished ? journal.checkpointStamp : .none
    stampSources.block = block
    stampSources.changes = []
  }

  /// Compares what was lost with what the file contains, and applies what is newer.
  func reapplyLost(_ replay: inout Replay) {
    if let lost {
      if journal.isRecovering {
        restore(lost, replay)
        stampSources.restoration.position =
          journal.endRecovery() ?? stampSources.restoration.position
      }
      self.lost = nil
    }
    guard stampSources.restoration.position != nil else { return }
    stampSources.restoration.drop(fileStamps)
    for restored in stampSources.restoration.edits
    where replay.table[restored.edit.key] != restored.edit.value {
      replay.edit(restored.edit.key, restored.edit.value, isOwn: false)
    }
  }

  private func restore(_ lost: LostContents, _ replay: Replay) {
    let (mine, others) = (lost.stamps.stamps, fileStamps)
    // Those are written as new values.
    let pending = Set(pending.edits.map { Array($0.key.utf8) })
    let edits = replay.table.edits(to: PropertyList.Fields(lost.table.fields()))
    let known = Set(edits.map { Array($0.key.utf8) })
    // Equal values, too, which others may have older and would take for newer than those without a stamp.
    let same = mine.keys.filter { !known.contains(Array($0.utf8)) }.map {
      DomainEdit(key: $0, value: replay.table[$0])
    }
    stampSources.restoration.edits.removeAll { known.contains(Array($0.edit.key.utf8)) }
    stampSources.restoration.edits += (edits + same).compactMap { edit in
      guard !pending.contains(Array(edit.key.utf8)), mine.isNewer(edit, than: others) else {
        return nil
      }
      return .init(edit: edit, stamp: mine.known(edit.key) ?? mine.floor)
    }
  }

  /// Writes what restores a lost file as one record. Requires the lock, and that everything was read.
  func writeRestoration(_ writer: Journal.Writer) throws {
    guard let position = stampSources.restoration.position else { return }
    let edits = stampSources.restoration.edits
    let offset = journal.recordOffset
    try writer.restore(position) {
      guard !edits.isEmpty else { return }
      try append([.restoring(edits.map(\.stamp))] + edits.map(\.edit), writer)
    }
    stampSources.changes += edits.map {
      KeyChange(key: $0.edit.key, offset: offset, stamp: $0.stamp)
    }
    stampSources.restoration = Restoration()
  }

  /// Notes that keys are set by the next record, or were by the one that begins at a stamp.
  func recordChanges(_ keys: some Sequence<String>, _ stamp: Journal.Stamp) {
    stampSources.changes += keys.map { KeyChange(key: $0, offset: stamp.offset, stamp: stamp) }
  }
}

// MARK: In a record

// The record that restores a lost file begins with the removal of a key that nobody sets, whose name has the stamps of the
// edits that follow. Older versions remove nothing, and read the rest as usual.
extension DomainEdit {
  private static let stampsPrefix = "\0stead.stamps\0"

  /// The edit that a restoring record begins with.
  static func restoring(_ stamps: [Journal.Stamp]) -> DomainEdit {
    let words = stamps.flatMap { [$0.generation, $0.offset] }
    return DomainEdit(
      key: stampsPrefix + words.map { String($0, radix: 16) }.joined(separator: " "), value: nil)
  }

  /// The stamps of the operations that follow; nil if the operation is an ordinary one.
  static func restoredStamps(_ key: String, _ value: PropertyList?) -> [Journal.Stamp]? {
    guard value == nil, key.utf8.first == 0, key.hasPrefix(stampsPrefix) else { return nil }
    let words = key.dropFirst(stampsPrefix.count).split(separator: " ").map {
      UInt64($0, radix: 16) ?? 0
    }
    return stride(from: 0, to: words.count - 1, by: 2).map {
      Journal.Stamp(generation: words[$0], offset: words[$0 + 1])
    }
  }
}

// MARK: - When keys were set

/// When each key of a domain was set or removed last, as far as it is known.
///
/// Only after a loss does anybody ask: a program that has read a lost file compares what it has in memory with what is
/// in the file that replaces it.
struct KeyStamps {
  /// How many keys a checkpoint says it of, those that were changed last.
  static let limit = 1_024

  // By bytes: two strings that are equal to Swift can be two keys.
  private var stamps: [[UInt8]: Journal.Stamp] = [:]
  /// Not earlier than the last change of any other key.
  var floor: Journal.Stamp
  /// Not earlier than any change.
  var horizon: Journal.Stamp { max(floor, stamps.values.max() ?? .none) }

  init(floor: Journal.Stamp = .none) { self.floor = floor }

  /// A key's stamp; nil when only the floor is known.
  func known(_ key: String) -> Journal.Stamp? { stamps[Array(key.utf8)] }

  /// The keys whose stamps are known.
  var keys: some Sequence<String> { stamps.keys.lazy.map { String(decoding: $0, as: UTF8.self) } }

  mutating func record(_ key: String, _ stamp: Journal.Stamp) {
    let key = Array(key.utf8)
    stamps[key] = max(stamps[key] ?? .none, stamp)
  }

  /// Whether an edit with these stamps is newer than what another place has with its own.
  func isNewer(_ edit: DomainEdit, than others: KeyStamps) -> Bool {
    let mine = known(edit.key) ?? floor
    if let other = others.known(edit.key) { return mine > other }
    // Of equal floors nothing says which is newer. The values may be from a property list that is gone now.
    return mine == others.floor ? edit.value != nil : mine > others.floor
  }
}

// MARK: In a checkpoint

extension KeyStamps {
  /// "SteadStm", read as a little-endian number.
  private static let magic: UInt64 = 0x6D74_5364_6165_7453
  /// The hash of all before, with the list's objects; the length of what is before, and the magic number.
  private static let footerByteCount = 24
  private static let stampByteCount = 16
  /// The end of a binary property list, whose last word says where its table of offsets begins.
  private static let trailerByteCount = 32
  /// Where the end says how many bytes an entry of the table has.
  private static let offsetWidth = 6

  /// Adds the stamps to a binary property list, between its objects and the table of their offsets.
  ///
  /// No object refers to what is there, so that older versions and other programs read the list as if it were not.
  func added(to list: Data) -> Data {
    guard let table = Self.table(of: list) else { return list }
    let block = encoded(for: list.prefix(table))
    var copy = Data(capacity: list.count + 2 * block.count)
    copy += list.prefix(table)
    copy += block
    // Foundation demands that an entry of the table could hold the table's own offset.
    let width = (Int.bitWidth - copy.count.leadingZeroBitCount + 7) / 8
    var trailer = Array(list.suffix(Self.trailerByteCount))
    let old = Int(trailer[Self.offsetWidth])
    let entries = Array(list.dropFirst(table).dropLast(Self.trailerByteCount))
    for start in stride(from: 0, to: entries.count, by: max(old, 1)) {
      let padding = Data(count: max(width - old, 0))
      copy += padding + entries[start..<min(start + old, entries.count)]
    }
    trailer[Self.offsetWidth] = UInt8(max(width, old))
    withUnsafeBytes(of: UInt64(table + block.count).bigEndian) {
      trailer.replaceSubrange((Self.trailerByteCount - 8)..., with: $0)
    }
    return copy + trailer
  }

  /// The stamps in a property list file that was written here and that nobody has edited since; otherwise nil.
  init?(file: Data) {
    guard let range = Self.block(of: file) else {
      self.init(xml: file)
      return
    }
    let block = Data(file[range])
    guard Self.isIntact(block, behind: file.prefix(range.lowerBound)) else { return nil }
    self.init(block: block)
  }

  /// Whether neither the block nor what is before it has been changed.
  private static func isIntact(_ block: Data, behind objects: Data) -> Bool {
    block.count >= footerByteCount
      && block.word(at: block.count - footerByteCount)
        == PublishedFile.Fingerprint(objects + block.dropLast(footerByteCount)).hash
  }

  /// The bytes of a list that hold the stamps; nil when it has none.
  static func block(of list: Data) -> Range<Int>? {
    guard let table = table(of: list), table >= footerByteCount,
      list.word(at: table - 8) == magic,
      let count = Int(exactly: list.word(at: table - 16)),
      count >= stampByteCount, count <= table - footerByteCount
    else { return nil }
    return (table - footerByteCount - count)..<table
  }

  /// Where the table of offsets begins.
  private static func table(of list: Data) -> Int? {
    guard list.count >= trailerByteCount else { return nil }
    return Int(exactly: list.word(at: list.count - 8).byteSwapped).flatMap {
      $0 <= list.count - trailerByteCount ? $0 : nil
    }
  }

  private func encoded(for objects: Data) -> Data {
    // The same stamps always give the same bytes.
    var newest = stamps.sorted { left, right in
      left.value == right.value
        ? left.key.lexicographicallyPrecedes(right.key) : left.value > right.value
    }
    var floor = floor
    if newest.count > Self.limit {
      floor = max(floor, newest[Self.limit].value)
      newest.removeSubrange(Self.limit...)
    }
    var bytes: [UInt8] = []
    func append(_ stamp: Journal.Stamp) {
      for word in [stamp.generation, stamp.offset] {
        withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
      }
    }
    append(floor)
    for (key, stamp) in newest {
      append(stamp)
      Varint.append(key.count, to: &bytes)
      bytes += key
    }
    for word in [PublishedFile.Fingerprint(objects + bytes).hash, UInt64(bytes.count), Self.magic] {
      withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
    }
    return Data(bytes)
  }

  /// The stamps that ``added(to:)`` has written; nil when the block isn't one.
  init?(block: Data) {
    let end = block.count - Self.footerByteCount
    guard end >= Self.stampByteCount else { return nil }
    func stamp(at offset: Int) -> Journal.Stamp {
      Journal.Stamp(generation: block.word(at: offset), offset: block.word(at: offset + 8))
    }
    self.init(floor: stamp(at: 0))
    var offset = Self.stampByteCount
    while offset < end {
      let start = offset + Self.stampByteCount
      guard start < end,
        let (count, width) = block.withUnsafeBytes({ bytes in
          try? Varint.decode(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        }), count >= 0, count <= end - start - width
      else { return nil }
      let key = block.dropFirst(start + width).prefix(count)
      stamps[Array(key)] = stamp(at: offset)
      offset = start + width + count
    }
  }
}

// MARK: In an XML file

extension KeyStamps {
  private static let commentStart = "<!-- stead.stamps "

  /// Adds a comment with the block of a binary list, in Base64.
  func added(toXML xml: Data) -> Data {
    let block = encoded(for: xml).base64EncodedString()
    return xml + Data("\(Self.commentStart)\(block) -->\n".utf8)
  }

  /// The stamps in a file that nobody has edited.
  private init?(xml file: Data) {
    let start = Data(Self.commentStart.utf8)
    guard let found = file.range(of: start, options: .backwards),
      let end = file.range(of: Data(" ".utf8), in: found.upperBound..<file.endIndex),
      let block = Data(base64Encoded: file[found.upperBound..<end.lowerBound]),
      Self.isIntact(block, behind: file[..<found.lowerBound]),
      block.word(at: block.count - 8) == Self.magic
    else { return nil }
    self.init(block: block)
  }
}

extension Data {
  /// The little-endian number at an offset from the beginning.
  fileprivate func word(at offset: Int) -> UInt64 {
    withUnsafeBytes {
      UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }
}
