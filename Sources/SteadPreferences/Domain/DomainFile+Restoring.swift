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
      for change in changes { stamps.note(change.key, change.stamp) }
      for restored in restoration.edits { stamps.note(restored.edit.key, restored.stamp) }
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
    var place: Journal.Place?
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
    var sources = sources
    sources.restoration = Restoration()
    return sources.stamps
  }

  /// Notes where the stamps are that belong to a checkpoint.
  func takeStamps(of checkpoint: UnsafeRawBufferPointer, isPublished: Bool) {
    let bytes = Data(
      bytesNoCopy: UnsafeMutableRawPointer(
        mutating: checkpoint.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!),
      count: checkpoint.count, deallocator: .none)
    let block = KeyStamps.block(of: bytes).map { Data(bytes[$0]) }
    // Older versions have written what they had read. What was made from the property list is older than anything.
    sources.floor = block == nil && isPublished ? journal.checkpointStamp : .none
    sources.block = block
    sources.changes = []
  }

  /// Compares what was lost with what the file contains, and applies what is newer.
  func settleLoss(_ replay: inout Replay) {
    if let lost {
      if journal.isRecovering {
        restore(lost, replay)
        sources.restoration.place = journal.endRecovery() ?? sources.restoration.place
      }
      self.lost = nil
    }
    guard sources.restoration.place != nil else { return }
    sources.restoration.drop(fileStamps)
    for restored in sources.restoration.edits
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
    sources.restoration.edits.removeAll { known.contains(Array($0.edit.key.utf8)) }
    sources.restoration.edits += (edits + same).compactMap { edit in
      guard !pending.contains(Array(edit.key.utf8)), mine.isNewer(edit, than: others) else {
        return nil
      }
      return .init(edit: edit, stamp: mine.known(edit.key) ?? mine.floor)
    }
  }

  /// Writes what restores a lost file as one record. Requires the lock, and that everything was read.
  func writeRestoration(_ writer: Journal.Writer) throws {
    guard let place = sources.restoration.place else { return }
    let edits = sources.restoration.edits
    let offset = journal.recordOffset
    try writer.restore(place) {
      guard !edits.isEmpty else { return }
      try append([.restoring(edits.map(\.stamp))] + edits.map(\.edit), writer)
    }
    sources.changes += edits.map {
      KeyChange(key: $0.edit.key, offset: offset, stamp: $0.stamp)
    }
    sources.restoration = Restoration()
  }

  /// Notes that keys are set by the next record, or were by the one that begins at a stamp.
  func noteChanges(_ keys: some Sequence<String>, _ stamp: Journal.Stamp) {
    sources.changes += keys.map { KeyChange(key: $0, offset: stamp.offset, stamp: stamp) }
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
