import Foundation
import SteadFiles

/// A checkpoint and a property list file that were prepared in the background.
///
/// The domain's files are read again, so that nobody waits for a copy of the memory. Until it is done it
/// costs the memory of a second table.
final class PreparedDomainCompaction {
  /// The maximum number of times that records written meanwhile are copied.
  private static let roundLimit = 8
  /// The number of bytes, some hundred records, that may be left to copy under the lock.
  private static let restLimit = 16 << 10

  let journal: PreparedJournalCompaction
  let draft: CheckpointDraft
  /// Whether the journal has the checkpoint, so that only the property list file has yet to be put in place.
  var isInJournal = false
  /// Has the old journal open.
  private let source: DomainFile

  /// nil if something else has to be done first, such as applying an edit of the property list.
  ///
  /// - Parameter isToldOfFormat: Whether it was reported that XML cannot hold the domain.
  /// - Throws: ``FileError``, such as `.noSpace`; ``PreferencesError`` for files that cannot be read.
  init?(
    _ name: String, in directory: URL, _ options: DomainStore.Options, isToldOfFormat: Bool
  ) throws {
    var options = options
    options.isReadOnly = true
    source = try DomainFile(name: name, directory: directory, options: options)
    source.isToldOfFormat = isToldOfFormat
    var replay = Replay(table: DomainTable(), byteCount: nil, isCollecting: false)
    try source.readJournal(&replay)
    guard try source.unseenEdits() == nil, !source.isBeingWritten, source.problems.isEmpty else {
      return nil
    }
    draft = try CheckpointDraft(of: replay.table, for: source)
    guard source.problems.isEmpty else { return nil }
    journal = try source.journal.compaction(to: draft.checkpoint).prepare()
    for _ in 0..<Self.roundLimit {
      try source.journal.read { _ in }
      guard let count = try journal.advance(to: source.journal) else { return nil }
      if count <= Self.restLimit { return }
    }
  }

  /// The checkpoint that this one replaces, from which the editor of the property list started.
  func replacedCheckpoint() throws -> DomainTable {
    try DomainTable(propertyList: source.journal.checkpointBytes())
  }
}
