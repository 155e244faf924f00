import Foundation
import SteadFiles

/// Checks that files and directories belong to the user and are closed to others.
///
/// A refusal names the command that corrects the owner or the mode. The checks apply to the superuser, too:
/// who owns a file can read and replace what root stores in it.
enum FileSafety {
  private static let allOfOthers: mode_t = 0o077
  private static let writingOfOthers: mode_t = 0o022
  private static let everythingOfAll: mode_t = 0o007

  /// Checks a file that nobody else may read or write, such as a vault or its key.
  ///
  /// - Throws: ``SecretError``: `.accessDenied`, with the command to run.
  static func checkFile(_ status: FileStatus, at path: String) throws(SecretError) {
    // By the status of the open file, which nobody can exchange between the check and the reading.
    try checkPlain(status, at: path)
    try checkOwner(status, [geteuid()], "The file", path)
    try checkMode(status, without: allOfOthers, "The file", path, "600")
  }

  /// Checks a file that others may read but not write.
  static func checkWritableOnlyByOwner(file status: FileStatus, at path: String) throws(SecretError)
  {
    try checkPlain(status, at: path)
    try checkOwner(status, [geteuid()], "The file", path)
    try checkMode(status, without: writingOfOthers, "The file", path, "600")
  }

  /// Checks a directory whose contents others cannot even list.
  static func checkDirectory(_ path: String) throws(SecretError) {
    let status = try directoryStatus(path)
    try checkOwner(status, [geteuid()], "The directory", path)
    try checkMode(status, without: allOfOthers, "The directory", path, "700")
  }

  /// Checks a directory in which others cannot replace a file; they may list it. Root's count, such as `/etc`.
  static func checkWritableOnlyByOwner(_ path: String) throws(SecretError) {
    let status = try directoryStatus(path)
    try checkOwner(status, [geteuid(), 0], "The directory", path)
    try checkMode(status, without: writingOfOthers, "The directory", path, "go-w")
  }

  /// Checks a credential that systemd created, as root.
  ///
  /// It may have group bits: for a file with an access control list, by which systemd lets the service's user read
  /// it, these are the list's mask.
  static func checkCredential(_ status: FileStatus, at path: String) throws(SecretError) {
    try checkPlain(status, at: path)
    try checkOwner(status, [geteuid(), 0], "The credential", path)
    try checkMode(status, without: everythingOfAll | writingOfOthers, "The credential", path, "400")
  }

  private static func checkPlain(_ status: FileStatus, at path: String) throws(SecretError) {
    guard status.kind == .file else {
      throw denied("\(path) isn't a regular file, which is needed there. Move it away.")
    }
  }

  /// The status of a directory; links are followed, since they are resolved when a file in it is opened, too.
  private static func directoryStatus(_ path: String) throws(SecretError) -> FileStatus {
    let disk = POSIXDisk()
    let status = try SecretError.files { try disk.statusFollowingLinks(path) }
    guard let status else {
      throw SecretError(
        code: .notInitialized,
        message: "The directory \(path) does not exist. Restore it.")
    }
    guard status.kind == .directory else {
      throw denied("\(path) isn't a directory, which is needed there. Move it away.")
    }
    return status
  }

  private static func checkOwner(
    _ status: FileStatus, _ owners: [uid_t], _ what: String, _ path: String
  ) throws(SecretError) {
    guard !owners.contains(status.user) else { return }
    throw denied(
      "\(what) \(path) belongs to user \(status.user), and this program runs as user \(geteuid()). Run "
        + "it as that user, or name another location. If it was left there by mistake, have an administrator "
        + "run: chown \(geteuid()) \(path.shellQuoted)")
  }

  private static func checkMode(
    _ status: FileStatus, without bits: mode_t, _ what: String, _ path: String, _ mode: String
  ) throws(SecretError) {
    guard status.mode & bits != 0 else { return }
    throw denied(
      "\(what) \(path) is open to others (mode \(String(status.mode, radix: 8))). Run: chmod "
        + "\(mode) \(path.shellQuoted)")
  }

  private static func denied(_ message: String) -> SecretError {
    SecretError(code: .accessDenied, message: message)
  }
}

// MARK: - Errors

extension SecretError {
  /// Runs code that throws file errors, and converts them: the code, and a remedy for the user.
  package static func files<Result>(_ body: () throws -> Result) throws(SecretError) -> Result {
    do {
      return try body()
    } catch let error as SecretError {
      // Thrown by a body within a file's lock, and already meant for the caller.
      throw error
    } catch {
      throw SecretError(ofFiles: error)
    }
  }

  private init(ofFiles error: any Error) {
    guard let error = error as? FileError else {
      self.init(code: .failed, message: "The system failed. See the cause.", cause: error)
      return
    }
    let (code, advice) = Self.meaning(of: error.code)
    self.init(
      code: code, message: [error.description, advice].compactMap(\.self).joined(separator: " "),
      cause: error)
  }

  /// What a file's error means for a caller; no advice where the error's own message has it all.
  private static func meaning(of code: FileError.Code) -> (Code, advice: String?) {
    switch code {
    case .denied:
      (
        .accessDenied,
        "Give this user read and write access, choose another location, or set XDG_DATA_HOME and "
          + "XDG_CONFIG_HOME, or HOME, to one."
      )
    case .readOnly:
      (
        .accessDenied,
        "Choose a writable location, or set XDG_DATA_HOME and XDG_CONFIG_HOME, or HOME, to one."
      )
    case .notAFile: (.accessDenied, "Choose another location.")
    case .noSpace: (.noSpace, "Free some space on the disk, and try again.")
    case .invalidName: (.invalidName, "Choose another location.")
    default: (.failed, nil)
    }
  }
}

// MARK: - Open files

/// A file that is kept open for reading.
///
/// As long as it is open, the system gives its inode number to no other file. So if the status of the file at
/// the path is still ``status``, it is this file, and unchanged.
final class OpenFile: Sendable {
  private let descriptor: Int32
  private let path: String
  /// The file's status when it was opened.
  let status: FileStatus

  /// Opens the file at a path without reading it; nil when it does not exist.
  ///
  /// A symbolic link is refused: the caller has followed links once, and checked the directory that it arrived at.
  init?(readingIfPresent path: String) throws(SecretError) {
    let disk = POSIXDisk()
    let opened: (Int32, FileStatus)? = try SecretError.files {
      do {
        // Without O_NONBLOCK, opening a FIFO waits for a writer. FileSafety refuses it afterwards.
        let descriptor = try disk.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, mode: 0)
        do {
          return (descriptor, try disk.status(descriptor, path: path))
        } catch {
          disk.close(descriptor)
          throw error
        }
      } catch let error as FileError where error.code == .notFound {
        return nil
      } catch let error as FileError where (error.cause as? POSIXError)?.code == .ELOOP {
        throw SecretError(
          code: .accessDenied,
          message:
            "A symbolic link has replaced the file \(path) since its path was looked up. Put the file back, or "
            + "open it anew by the path that is to be followed.", cause: error)
      }
    }
    guard let opened else { return nil }
    (descriptor, status) = opened
    self.path = path
  }

  deinit { POSIXDisk().close(descriptor) }

  /// The whole contents, whose length must be that of the file when it was opened.
  func data(limit: Int) throws(SecretError) -> Data {
    let size = try size(limit: limit)
    // After the limit was checked, since the size is the file's own and may be anything.
    var data = Data(count: size)
    try SecretError.files {
      try data.withUnsafeMutableBytes { try read(into: $0) }
    }
    return data
  }

  /// The same as ``data(limit:)``, in memory that is wiped.
  func secret(limit: Int) throws(SecretError) -> SecretBytes {
    try SecretBytes(count: try size(limit: limit)) { (memory) throws(SecretError) in
      try SecretError.files { try read(into: memory) }
    }
  }

  /// Whether the file begins with these bytes.
  func begins(with bytes: Data) -> Bool {
    var found = Data(count: bytes.count)
    let isRead: Void? = try? found.withUnsafeMutableBytes { try read(into: $0) }
    return isRead != nil && found == bytes
  }

  private func size(limit: Int) throws(SecretError) -> Int {
    guard let size = Int(exactly: status.size), size <= limit else {
      throw SecretError(
        code: .corrupt,
        message:
          "The file \(path) has \(status.size) bytes, more than the \(limit) that it "
          + "can have. Check it, and replace it with the right one.")
    }
    return size
  }

  private func read(into memory: UnsafeMutableRawBufferPointer) throws {
    var offset = 0
    // By offset, not by the descriptor's position, which the child of a fork shares.
    while offset < memory.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: memory[offset...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileError(errno: errno, doing: "read the file", path: path) }
      // Writers replace whole files, so only another program can have cut this one off.
      guard count > 0 else {
        throw SecretError.damagedVault("it became shorter while it was read")
      }
      offset += count
    }
  }
}
