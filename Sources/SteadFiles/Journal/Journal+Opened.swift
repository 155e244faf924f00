import CSteadFiles
import Foundation

extension Journal {
  /// An open file that has been examined.
  ///
  /// It has what the header page said then. The contents of a file that can't be replaced may become others at any moment
  /// without the lock, and what is read of the page later would be about those.
  struct Opened {
    var file: MappedFile
    let header: JournalHeader
    /// Where the verified records end.
    let verifiedEnd: Int
    /// Replaces a checkpoint that cannot be repaired.
    var substitute: Checkpoint?
    /// Whether records were lost, or the checkpoint is the owner's replacement.
    var isPartial: Bool
    /// Whether it was a copy, such as a backup, that nobody had opened before. Only known with the lock.
    var isCopy: Bool
    /// The salt as stored in the first copy of the header.
    let salt: UInt64
    /// By which number the file is named in a lineage.
    let identity: UInt64
    let lineage: JournalLineage
    let origins: JournalOrigins

    init(
      file: MappedFile, header: JournalHeader, verifiedEnd: Int = 0,
      substitute: Checkpoint? = nil, isPartial: Bool = false, isCopy: Bool = false
    ) {
      (self.file, self.header, self.verifiedEnd) = (file, header, verifiedEnd)
      (self.substitute, self.isPartial, self.isCopy) = (substitute, isPartial, isCopy)
      salt = file.word(at: JournalLayout.salt)
      identity = JournalLineage.identity(of: file, header)
      lineage = JournalLineage(file)
      origins = JournalOrigins(file)
    }

    /// Greater than that of the file that it has replaced; 0 in one that an older version has made.
    var generation: UInt64 { origins.generation }

    /// Whether the file still has the contents that were examined, and ends where it did.
    ///
    /// Who replaces the contents first sets a flag, writes the salt before the other words, and truncates the file before the
    /// flag is cleared. So all that was read is of the same contents if no flag is set and the salt is the same afterwards. But
    /// the file may have been mapped before it was truncated.
    var isSettled: Bool {
      file.word(at: JournalLayout.tail) & JournalLayout.flags == 0
        && file.word(at: JournalLayout.salt) == header.salt && !file.isLost && file.isReached
    }
  }
}
