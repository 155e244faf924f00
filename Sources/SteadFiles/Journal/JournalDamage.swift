import Foundation

/// What is wrong with a journal file, and where its bytes were kept.
package struct JournalDamage: Sendable {
  /// The part of the file that is damaged.
  package enum Kind: Sendable, Hashable {
    /// The header. If one of its two copies is good, nothing is lost; otherwise the whole file is. An empty
    /// file, or one of zeros only, counts as one without a header.
    case header
    /// The checkpoint. The records after it are still read.
    case checkpoint
    /// The log. The records before the damage are still read.
    case log
    /// The file isn't one of this library's journals.
    case notAJournal
    /// The open file was removed. Its contents were restored.
    case removed
    /// Another file took the open one's name. The open one was restored, with the records that others had appended to the
    /// other one there.
    case exchanged
    /// The open file was truncated, or overwritten in place. Its owner restores it.
    case overwritten
  }

  /// The part of the file that is damaged.
  package var kind: Kind
  /// Where in the file the damage begins, in bytes.
  package var offset: Int
  /// The maximum number of bytes of checkpoint or records lost; 0 when nothing is lost, or when the file is
  /// empty and the number is unknown.
  package var lostByteCount: Int
  /// The journal's file.
  package var url: URL
  /// Where the damaged file is now; nil when it was opened read-only and is in its old place, and for a file
  /// of zeros, which isn't worth keeping.
  package var keptAside: URL?

  /// Describes damage; the package does this, and a test may, too.
  package init(kind: Kind, offset: Int, lostByteCount: Int, url: URL, keptAside: URL?) {
    self.kind = kind
    self.offset = offset
    self.lostByteCount = lostByteCount
    self.url = url
    self.keptAside = keptAside
  }
}
