import Foundation

/// Who may read and write a file, as the mode bits of POSIX.
public struct FilePermissions: RawRepresentable, Hashable, Sendable {
  /// The bits as `chmod` takes them.
  public var rawValue: UInt16

  /// Permissions from the bits that `chmod` takes.
  public init(rawValue: UInt16) { self.rawValue = rawValue & 0o7777 }

  /// The owner reads and writes, nobody else does: 0600.
  public static let ownerOnly = FilePermissions(rawValue: 0o600)
  /// The owner writes, everyone reads: 0644.
  public static let everyoneReads = FilePermissions(rawValue: 0o644)
}
