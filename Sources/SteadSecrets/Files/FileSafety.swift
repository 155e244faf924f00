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
