import Foundation

/// Why a file, a directory or a blob could not be read or written.
///
/// Compare ``code``, show ``message``, and see ``cause`` for the system's own error. No string in it ever
/// holds a file's contents.
public struct FileError: Error, Sendable {
  /// What went wrong, for comparison.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name {
      case notFound, alreadyExists, changed, denied, readOnly, noSpace, notAFile, tooLarge
      case damaged, newerVersion, invalidName, busy, failed
    }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The code's name, for logs and metrics.
    public var description: String { "\(name)" }

    /// No file has that name.
    public static let notFound = Code(.notFound)
    /// A file of that name already exists, and the call was to create one.
    public static let alreadyExists = Code(.alreadyExists)
    /// The file no longer holds what the caller last read.
    public static let changed = Code(.changed)
    /// The process lacks the permission.
    public static let denied = Code(.denied)
    /// The file system is mounted read-only.
    public static let readOnly = Code(.readOnly)
    /// The disk or the user's quota is full.
    public static let noSpace = Code(.noSpace)
    /// The path leads to something other than what was asked for, such as a directory.
    public static let notAFile = Code(.notAFile)
    /// The file is larger than the limit that the call documents.
    public static let tooLarge = Code(.tooLarge)
    /// The bytes differ from those that were written.
    public static let damaged = Code(.damaged)
    /// The file was written by a newer version of the library, in a format that this version does not know.
    public static let newerVersion = Code(.newerVersion)
    /// The name is empty, too long, or holds characters that lead elsewhere.
    public static let invalidName = Code(.invalidName)
    /// Other processes held it, or kept interfering, for as long or as often as the call was ready to try.
    public static let busy = Code(.busy)
    /// The system failed in a way that has no code here; see ``FileError/cause``.
    public static let failed = Code(.failed)
  }

  /// What went wrong, for comparison.
  public var code: Code
  /// What went wrong and what to do about it, in a sentence for a person.
  public var message: String
  /// The path at which it went wrong.
  public var path: String
  /// The system's underlying error, if any.
  public var cause: (any Error)?

  /// Makes an error; the package does this, and a test may, too.
  public init(code: Code, message: String, path: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.path = path
    self.cause = cause
  }
}

extension FileError: CustomStringConvertible, LocalizedError {
  /// The message and the path.
  public var description: String { "\(message) (\(path))" }
  /// The message and the path.
  public var errorDescription: String? { description }
}

extension FileError {
  /// Whether a file can't be replaced by a rename, since its path is a mount point: the system returns EBUSY.
  var isMountPointBusy: Bool { (cause as? POSIXError)?.code == .EBUSY }

  /// The error for the value that a system call left in `errno`.
  package init(errno number: Int32, doing action: String, path: String) {
    let cause = POSIXErrorCode(rawValue: number).map { POSIXError($0) }
    let reason = String(cString: strerror(number))
    self.init(
      code: Code(errno: number), message: "Could not \(action): \(reason).", path: path,
      cause: cause)
  }
}

extension FileError.Code {
  fileprivate init(errno number: Int32) {
    switch number {
    case ENOENT: self = .notFound
    case EEXIST: self = .alreadyExists
    case EACCES, EPERM: self = .denied
    case EROFS: self = .readOnly
    // EFBIG: the file would exceed the limit of the file system or of the process (`ulimit -f`).
    case ENOSPC, EDQUOT, EFBIG: self = .noSpace
    case EISDIR, ENOTDIR: self = .notAFile
    case ENAMETOOLONG, EILSEQ: self = .invalidName
    default: self = .failed
    }
  }
}
