import Foundation

// A checkpoint that is damaged while the file is open. Nobody reads it again until a compaction, so only that notices.
extension Journal {
  /// Whether the open file's checkpoint is what its owner has received. Costs reading it.
  ///
  /// It is true for a file that was truncated or overwritten as a whole, which a look restores.
  package var isCheckpointIntact: Bool {
    substitute != nil || file.isBlank || isSpoilt || file.hasCheckpoint(header)
  }

  /// Keeps the open file aside, and reports that its checkpoint is damaged. Requires the lock.
  ///
  /// The owner has received what was in it, and replaces the file by a compaction.
  func reportDamagedCheckpoint() throws {
    let aside = try pathLeadsHere() ? keepAside() : nil
    report(.checkpoint, at: JournalLayout.headerByteCount, lost: 0, keptAside: aside)
  }

  /// Passes the payloads of all records behind the checkpoint that the owner has received or appended.
  package func visitLog(_ visit: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    let log = JournalLog(bytes: file.bytes, seed: seed)
    let end = min(Int(position), file.byteCount)
    var offset = header.logStart
    var space = JournalSpace()
    while offset < end, let (payload, _) = log.copy(at: offset, limit: end, into: &space) {
      try visit(payload)
      offset = JournalLog.end(ofPayloadAt: offset, payload)
    }
  }
}

extension Journal.Writer {
  /// Keeps the open file aside, and reports that its checkpoint is damaged; ``compact(to:)`` replaces the file next.
  package func reportDamagedCheckpoint() throws { try journal.reportDamagedCheckpoint() }
}
