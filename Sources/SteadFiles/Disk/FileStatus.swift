import Foundation

/// What the system knows about a file without opening it.
package struct FileStatus: Hashable, Sendable {
  package enum Kind: Sendable { case file, directory, link, other }

  /// Distinguishes one file from another for as long as it is open, whatever its names.
  package struct Identity: Hashable, Sendable {
    package var device: UInt64
    package var file: UInt64
  }

  /// How long, in seconds, a file must be unmodified before its times reliably reveal a further change.
  package static let settlingTime = 0.05

  package var kind: Kind
  package var size: Int64
  package var mode: mode_t
  package var user: uid_t
  package var group: gid_t
  package var identity: Identity
  package var modified: Date
  /// The same in nanoseconds since 1970.
  package var modifiedNanoseconds: Int64
  /// When contents, owner, permissions or the number of links last changed.
  package var changed: Date

  init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .directory
    case S_IFLNK: kind = .link
    default: kind = .other
    }
    size = Int64(status.st_size)
    mode = status.st_mode & 0o7777
    user = status.st_uid
    group = status.st_gid
    identity = Identity(device: UInt64(status.st_dev), file: UInt64(status.st_ino))
    modified = status.modificationDate
    modifiedNanoseconds = status.modificationNanoseconds
    changed = status.changeDate
  }
}
