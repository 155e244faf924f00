import Foundation

/// What the system knows about a file without opening it.
package struct FileStatus: Hashable, Sendable {
  package enum Kind: Sendable { case file, directory, link, other }

  /// Distinguishes one file from another for as long as it is open, whatever its names.
  package struct Identity: Hashable, Sendable {
    package var device: UInt64
    package var file: UInt64
    /// When an open file was made, in nanoseconds since 1970; 0 if that isn't known, or the file wasn't opened.
    ///
    /// The system gives a removed file's number to a later one. This tells the two apart. It isn't compared: the number of
    /// an open file belongs to no other.
    package var birth: UInt64 = 0

    package static func == (left: Identity, right: Identity) -> Bool {
      left.device == right.device && left.file == right.file
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(device)
      hasher.combine(file)
    }
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

  /// - Parameter birth: When it was made, if it is open.
  init(_ status: stat, birth: UInt64 = 0) {
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
    identity = Identity(
      device: UInt64(status.st_dev), file: UInt64(status.st_ino), birth: birth)
    modified = status.modificationDate
    modifiedNanoseconds = status.modificationNanoseconds
    changed = status.changeDate
  }
}
