import Foundation

/// What was found to be wrong with a journal file, and where its bytes were kept.
package struct JournalDamage: Sendable {
  /// The part of the file that is damaged.
  package enum Kind: Sendable, Hashable {
    /// The header. When one of its two copies is good, nothing is lost; else the whole file is. A file
    /// that is empty, or zeros only, counts as one without a header.
    case header
    /// The checkpoint. The records behind it are still read.
    case checkpoint
    /// The log. The records before the damage are still read.
    case log
    /// The file is none of ours.
    case notAJournal
    /// The open file was removed by somebody. What it held was put back.
    case removed
    /// Another file took the open one's name. If it is a journal, it counts, with what was appended since.
    case exchanged
    /// The open file was cut off, or written over in place.
    case overwritten
  }

  /// The part of the file that is damaged.
  package var kind: Kind
  /// Where in the file the damage begins, in bytes.
  package var offset: Int
  /// How many bytes of checkpoint or records are gone, at most; 0 when nothing is lost, or when the file
  /// is empty and nobody can say.
  package var lostByteCount: Int
  /// The journal's file.
  package var url: URL
  /// Where the damaged file is now; nil when it was opened for reading only and is where it was, and for
  /// a file of zeros, which is not worth keeping.
  package var keptAside: URL?

  /// Describes a damage; the package does this, and so may a test.
  package init(kind: Kind, offset: Int, lostByteCount: Int, url: URL, keptAside: URL?) {
    self.kind = kind
    self.offset = offset
    self.lostByteCount = lostByteCount
    self.url = url
    self.keptAside = keptAside
  }
}
