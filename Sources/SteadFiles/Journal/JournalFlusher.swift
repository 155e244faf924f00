import CSteadFiles
import Foundation

/// Makes a journal durable, apart from the journal itself, so that its owner can go on meanwhile.
///
/// Take one with ``Journal/flusher``, let go of the lock that guards the journal, and flush.
public struct JournalFlusher: Sendable {
  /// nil for a journal that was opened for reading only.
  let path: String?
  let disk: any Disk

  /// Returns when all that was appended before the call survives a loss of power.
  ///
  /// It costs a sync of the file, 0.1 ms on an idle disk and milliseconds on a busy one; after a
  /// compaction one more, of the directory. A journal that was opened for reading only has nothing to
  /// flush.
  ///
  /// - Throws: ``FileError`` when the disk fails, or somebody has removed the file.
  public func flush() throws {
    guard let path else { return }
    // By its name: if another process has just compacted the journal, what was appended is there.
    try disk.withDescriptor(path, O_RDWR) { descriptor in
      let error = stead_file_sync(descriptor)
      guard error == 0 else { throw FileError(errno: error, doing: "make it durable", path: path) }
      if try hasDurableName(descriptor, path) { return }
      try disk.syncDirectory(path.directoryPath)
      try recordDurableName(descriptor, path)
    }
  }

  private func hasDurableName(_ descriptor: Int32, _ path: String) throws -> Bool {
    var word: UInt64 = 0
    let count = pread(descriptor, &word, MemoryLayout.size(ofValue: word), Self.place)
    guard count >= 0 else { throw FileError(errno: errno, doing: "read it", path: path) }
    return word != 0
  }

  private func recordDurableName(_ descriptor: Int32, _ path: String) throws {
    var word: UInt64 = 1
    let count = pwrite(descriptor, &word, MemoryLayout.size(ofValue: word), Self.place)
    guard count >= 0 else { throw FileError(errno: errno, doing: "write it", path: path) }
  }

  private static let place = off_t(JournalLayout.durableName)
}

extension Journal {
  /// What ``flush()`` does, to be done where the journal is not held.
  public var flusher: JournalFlusher {
    JournalFlusher(path: access == .readWrite ? path : nil, disk: disk)
  }

  /// Returns when all that was appended survives a loss of power; see ``JournalFlusher/flush()``.
  ///
  /// - Throws: ``FileError`` when the disk fails, or somebody has removed the file.
  public func flush() throws { try flusher.flush() }
}
