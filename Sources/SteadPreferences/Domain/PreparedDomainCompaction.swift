import Foundation
import SteadFiles

/// A checkpoint and a property list file that were made beside those who read and write.
///
/// The domain's files are read once more, so that nobody waits for a copy of what is in memory. It costs the
/// memory of a second table until it is done.
final class PreparedDomainCompaction {
  /// How often at most records are copied that were written meanwhile.
  private static let roundLimit = 8
  /// So few bytes, some hundred records, may be left to be copied with the lock.
  private static let restLimit = 16 << 10

  let journal: PreparedJournalCompaction
  let draft: CheckpointDraft
  /// Whether the journal has the checkpoint, so that only the property list file is left to be put in place.
  var isInJournal = false
  /// Has the old journal open.
  private let source: DomainFile

  /// nil where something is to be seen to first, such as an edit of the property list.
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

  /// The checkpoint that this one replaces, which is what the editor of the property list began with.
  func replacedCheckpoint() throws -> DomainTable {
    try DomainTable(propertyList: source.journal.checkpoint)
  }
}
