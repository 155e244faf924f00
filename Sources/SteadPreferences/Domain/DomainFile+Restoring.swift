import Foundation
import SteadFiles
import SteadFormats

// Values that were in a file that was truncated, overwritten, exchanged or removed.
//
// Each program knows when every key was set last. It writes again what the file that has the name
// now has older, with the stamp that it had. So it doesn't matter which process notices a loss
// first, nor how often files are lost meanwhile.
extension DomainFile {
  /// One key of a record, and when it was set.
  struct KeyChange {
    var key: String
    /// Where the record begins in the open file.
    var offset: UInt64
    var stamp: Journal.Stamp
  }

  /// What was in memory when the journal was read from its beginning again. If the file before was
  /// lost, this is the only copy of what it had.
  struct LostContents {
    var table: DomainTable
    var stamps: StampSources
  }

  /// From which ``KeyStamps`` can be computed, which happens only after a loss and in a compaction.
  ///
  /// A list of changes, and not a dictionary: appending to it costs a write almost nothing.
  struct StampSources {
    /// The stamps in the checkpoint; nil when it has none.
    var block: Data?
    /// Not earlier than the last change of any key of the checkpoint that the block does not list.
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

  /// What this process must write because it knows more than the file that has the journal's name
  /// now.
  struct Restoration {
    struct Restored {
      var edit: DomainEdit
      var stamp: Journal.Stamp
    }

    /// How far this process knew the lost file; nil when nothing has to be written.
    var position: Journal.Place?
    var edits: [Restored] = []

    /// Drops what the file has the same or newer by now, since other processes restore, too.
    mutating func drop(_ stamps: KeyStamps) {
      edits.removeAll { restored in
        stamps.known(restored.edit.key).map { $0 >= restored.stamp } ?? false
      }
    }
  }

  /// The stamps of what is in the open file, without what is only in memory.
  private var fileStamps: KeyStamps {
    var stampSources = stampSources
    stampSources.restoration = Restoration()
    return stampSources.stamps
  }

  /// Keeps the stamps of a checkpoint that was just read.
  func loadStamps(of checkpoint: UnsafeRawBufferPointer, isPublished: Bool) {
    // No copy: the checkpoint may be large, and only its block is kept.
    let bytes = Data(
      bytesNoCopy: UnsafeMutableRawPointer(
        // Bytes without an address are none, so this one is never read.
        mutating: checkpoint.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!),
      count: checkpoint.count, deallocator: .none)
    let block = KeyStamps.block(of: bytes).map { Data(bytes[$0]) }
    // Older versions have written what they had read. What was made from the property list is older
    // than anything.
    stampSources.floor = block == nil && isPublished ? journal.checkpointStamp : .none
    stampSources.block = block
    stampSources.changes = []
  }

  /// After a loss, compares what was in memory with what the file has, and applies what is newer.
  ///
  /// Each process does this for itself, by stamps alone. So it does not matter which of them
  /// notices a loss first, nor how often the file is lost meanwhile: for each key, the newest value
  /// that any process has in memory wins.
  func reapplyLost(_ replay: inout Replay) {
    if let lost {
      // Otherwise the journal was only read again, after a compaction by another process, and
      // nothing was lost.
      if journal.isRecovering {
        restore(lost, replay)
        stampSources.restoration.position =
          journal.endRecovery() ?? stampSources.restoration.position
      }
      // Its table is a second copy of the domain, and needed only once.
      self.lost = nil
    }
    guard stampSources.restoration.position != nil else { return }
    // Other processes may have restored the same keys meanwhile.
    stampSources.restoration.drop(fileStamps)
    for restored in stampSources.restoration.edits
    where replay.table[restored.edit.key] != restored.edit.value {
      replay.edit(restored.edit.key, restored.edit.value, isOwn: false)
    }
  }

  /// Collects what memory has newer than the file, key by key.
  private func restore(_ lost: LostContents, _ replay: Replay) {
    let (mine, others) = (lost.stamps.stamps, fileStamps)
    // Deferred edits are written as new values anyway.
    let pending = Set(pending.edits.map { ExactKey($0.key) })
    let edits = replay.table.edits(to: PropertyList.Fields(lost.table.fields()))
    let known = Set(edits.map { ExactKey($0.key) })
    // Keys with equal values, too: otherwise another process could take its older value for the
    // newer one, since the file would have no stamp for the key.
    let same = mine.keys.filter { !known.contains(ExactKey($0)) }.map {
      DomainEdit(key: $0, value: replay.table[$0])
    }
    // A second loss before the first was made up for: later knowledge replaces earlier.
    stampSources.restoration.edits.removeAll { known.contains(ExactKey($0.edit.key)) }
    stampSources.restoration.edits += (edits + same).compactMap { edit in
      guard !pending.contains(ExactKey(edit.key)), mine.isNewer(edit, than: others) else {
        return nil
      }
      return .init(edit: edit, stamp: mine.known(edit.key) ?? mine.floor)
    }
  }

  /// Writes what restores a lost file as one record, with the original stamps. Requires the lock,
  /// and that everything was read.
  func writeRestoration(_ writer: Journal.Writer) throws {
    guard let position = stampSources.restoration.position else { return }
    let edits = stampSources.restoration.edits
    let offset = journal.recordOffset
    try writer.restore(position) {
      // Even without edits, the journal notes up to where this process has restored the lost file.
      guard !edits.isEmpty else { return }
      // One record: the stamps and the operations that they belong to must not be separated by a
      // kill.
      try append([.restoring(edits.map(\.stamp))] + edits.map(\.edit), writer)
    }
    stampSources.changes += edits.map {
      KeyChange(key: $0.edit.key, offset: offset, stamp: $0.stamp)
    }
    stampSources.restoration = Restoration()
  }

  /// Records that keys are set by the record that begins at a stamp, such as the next one.
  func recordChanges(_ keys: some Sequence<String>, _ stamp: Journal.Stamp) {
    stampSources.changes += keys.map { KeyChange(key: $0, offset: stamp.offset, stamp: stamp) }
  }
}

// MARK: - In a record

// The record that restores a lost file begins with the removal of a key that is never set, whose
// name has the stamps of the edits that follow. Older versions remove nothing, and read the rest as
// usual.
extension DomainEdit {
  private static let stampsPrefix = "\0stead.stamps\0"

  /// The first operation of a record that restores: it carries the stamps of the operations behind
  /// it.
  static func restoring(_ stamps: [Journal.Stamp]) -> DomainEdit {
    let words = stamps.flatMap { [$0.generation, $0.offset] }
    return DomainEdit(
      key: stampsPrefix + words.map { String($0, radix: 16) }.joined(separator: " "), value: nil)
  }

  /// The stamps of the operations behind this one; nil if it is an ordinary operation.
  static func restoredStamps(_ key: String, _ value: PropertyList?) -> [Journal.Stamp]? {
    // Cheap for ordinary keys, since this runs for every operation that is read.
    guard value == nil, key.utf8.first == 0, key.hasPrefix(stampsPrefix) else { return nil }
    let words = key.dropFirst(stampsPrefix.count).split(separator: " ").map {
      UInt64($0, radix: 16) ?? 0
    }
    // Without the last word of an odd number, which has no partner.
    return stride(from: 0, to: words.count - 1, by: 2).map {
      Journal.Stamp(generation: words[$0], offset: words[$0 + 1])
    }
  }
}

// MARK: - When keys were set

/// When each key of a domain was last set or removed, as far as it is known: the logical clock of
/// each key.
///
/// Needed only after a loss, to decide between what a process has in memory and what is in the file
/// that replaced the lost one. A stamp is the generation of the journal's file in which the key was
/// first set, and the offset there.
///
/// A checkpoint keeps the stamps of the ``limit`` keys that changed last. All other keys share the
/// ``floor``.
struct KeyStamps {
  /// The number of keys whose stamps a checkpoint keeps.
  static let limit = 1_024

  private var stamps: [ExactKey: Journal.Stamp] = [:]
  /// Not earlier than the last change of any other key.
  var floor: Journal.Stamp
  /// Not earlier than any change.
  var horizon: Journal.Stamp { max(floor, stamps.values.max() ?? .none) }

  init(floor: Journal.Stamp = .none) { self.floor = floor }

  /// A key's stamp; nil when only the floor is known.
  func known(_ key: String) -> Journal.Stamp? { stamps[ExactKey(key)] }

  /// The keys whose stamps are known.
  var keys: some Sequence<String> { stamps.keys.lazy.map(\.text) }

  mutating func record(_ key: String, _ stamp: Journal.Stamp) {
    let key = ExactKey(key)
    stamps[key] = max(stamps[key] ?? .none, stamp)
  }

  /// Whether an edit with these stamps is newer than what another place has with its own.
  func isNewer(_ edit: DomainEdit, than others: KeyStamps) -> Bool {
    let mine = known(edit.key) ?? floor
    // The other place knows the key's own stamp. Otherwise only that it is not later than the
    // floor.
    if let other = others.known(edit.key) { return mine > other }
    // With equal floors nothing says which is newer. A value wins over a removal, since it may come
    // from a property list that is gone now.
    return mine == others.floor ? edit.value != nil : mine > others.floor
  }
}

// MARK: - In a checkpoint

extension KeyStamps {
  /// "SteadStm", read as a little-endian number.
  private static let magic: UInt64 = 0x6D74_5364_6165_7453
  /// The block's end: the hash of all before it, including the list's objects; its length; the
  /// magic number.
  private static let footerByteCount = 24
  private static let stampByteCount = 16
  /// The end of a binary property list. Its last word says where the table of offsets begins.
  private static let trailerByteCount = 32
  /// The index of the trailer's byte that says how many bytes each offset of the table has.
  private static let offsetWidth = 6

  /// Inserts the stamps into a binary property list, between its objects and the table of their
  /// offsets.
  ///
  /// No offset leads there, so older versions and other programs read the list as if the block did
  /// not exist.
  func added(to list: Data) -> Data {
    // Not a binary property list. Without stamps it is still correct.
    guard let table = Self.table(of: list) else { return list }
    let block = encoded(for: list.prefix(table))
    var copy = Data(capacity: list.count + 2 * block.count)
    copy += list.prefix(table)
    copy += block
    // Foundation's reader demands that an entry of the table could hold the table's own offset,
    // which has grown.
    let width = (Int.bitWidth - copy.count.leadingZeroBitCount + 7) / 8
    var trailer = Array(list.suffix(Self.trailerByteCount))
    let old = Int(trailer[Self.offsetWidth])
    let entries = Array(list.dropFirst(table).dropLast(Self.trailerByteCount))
    // `stride` traps for steps of 0.
    for start in stride(from: 0, to: entries.count, by: max(old, 1)) {
      // Offsets are big-endian, so they are widened by zeros in front.
      let padding = Data(count: max(width - old, 0))
      copy += padding + entries[start..<min(start + old, entries.count)]
    }
    trailer[Self.offsetWidth] = UInt8(max(width, old))
    withUnsafeBytes(of: UInt64(table + block.count).bigEndian) {
      trailer.replaceSubrange((Self.trailerByteCount - 8)..., with: $0)
    }
    return copy + trailer
  }

  /// The stamps in a property list that was written here and not edited since; nil for any other.
  init?(file: Data) {
    guard let range = Self.block(of: file) else {
      self.init(xml: file)
      return
    }
    // The hash covers the objects, too: an edited list with an old block must not count as
    // published.
    let block = Data(file[range])
    guard Self.isIntact(block, behind: file.prefix(range.lowerBound)) else { return nil }
    self.init(block: block)
  }

  /// Whether neither the block nor what is before it has changed. A bit that a disk has flipped
  /// must not remove keys.
  private static func isIntact(_ block: Data, behind objects: Data) -> Bool {
    block.count >= footerByteCount
      && block.word(at: block.count - footerByteCount)
        == PublishedFile.Fingerprint(objects + block.dropLast(footerByteCount)).hash
  }

  /// The range of the block in a binary property list; nil if it has none.
  static func block(of list: Data) -> Range<Int>? {
    guard let table = table(of: list), table >= footerByteCount,
      list.word(at: table - 8) == magic,
      let count = Int(exactly: list.word(at: table - 16)),
      count >= stampByteCount, count <= table - footerByteCount
    else { return nil }
    return (table - footerByteCount - count)..<table
  }

  /// The offset of the table of offsets; nil if the list cannot be one.
  private static func table(of list: Data) -> Int? {
    guard list.count >= trailerByteCount else { return nil }
    return Int(exactly: list.word(at: list.count - 8).byteSwapped).flatMap {
      $0 <= list.count - trailerByteCount ? $0 : nil
    }
  }

  /// The block, as Documentation/PreferencesFile.md draws it under "When a key was set".
  ///
  /// The greatest stamps come first, so that what is left out beyond ``limit`` is at most as late
  /// as the floor.
  ///
  /// - Parameter objects: The bytes before the block, which its hash covers.
  private func encoded(for objects: Data) -> Data {
    // A total order, so that the same stamps always give the same bytes: files are compared by
    // their hash.
    var newest = stamps.sorted { left, right in
      left.value == right.value
        ? left.key.text.comesBefore(right.key.text) : left.value > right.value
    }
    var floor = floor
    // The floor must not be earlier than any key that is left out.
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
      Varint.append(key.text.utf8.count, to: &bytes)
      bytes += key.text.utf8
    }
    for word in [PublishedFile.Fingerprint(objects + bytes).hash, UInt64(bytes.count), Self.magic] {
      withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
    }
    return Data(bytes)
  }

  /// Decodes a block; nil when it is damaged. Every length is checked against the bytes that are
  /// left.
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
      stamps[ExactKey(String(decoding: key, as: UTF8.self))] = stamp(at: offset)
      offset = start + width + count
    }
  }
}

// MARK: - In an XML file

extension KeyStamps {
  private static let commentStart = "<!-- stead.stamps "

  /// Appends the block to an XML property list, as a comment in Base64.
  func added(toXML xml: Data) -> Data {
    let block = encoded(for: xml).base64EncodedString()
    return xml + Data("\(Self.commentStart)\(block) -->\n".utf8)
  }

  /// The stamps in an XML property list that was not edited since.
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
