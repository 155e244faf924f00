import Foundation
import SteadFiles

/// A vault's file, with its lock and its directory.
struct VaultFile: Sendable {
  /// Where the file itself is; links on the way to it were followed once.
  let path: String
  private let file: AtomicFile
  private let lock: FileLock

  init(_ url: URL) throws(SecretError) {
    let target = try SecretError.files { try POSIXDisk().resolveLinks(url.checkedPath) }
    path = target
    file = AtomicFile(URL(filePath: target))
    // Beside the file itself, so that all links to it lead to one lock.
    lock = FileLock(URL(filePath: target + ".lock"))
  }

  /// What the system says of the file; nil when it is not there.
  func status() throws(SecretError) -> FileStatus? {
    try SecretError.files { try POSIXDisk().status(at: path) }
  }

  /// Which vault was here last.
  func pin(_ environment: [String: String]) -> VaultPin {
    VaultPin(vault: path, environment: environment)
  }

  /// The error for a vault that is not the one that was here before.
  var exchanged: SecretError {
    SecretError(
      code: .anotherVault,
      message: "Another vault has taken the place of the one at \(path). If you put it there on "
        + "purpose, call Vault.acceptRollback(at:key:); else bring back the right one.")
  }

  /// The file, open, and seen to be the user's own; nil when it is not there.
  func open() throws(SecretError) -> OpenFile? {
    let file = try OpenFile(readingIfPresent: path)
    guard let file else { return nil }
    try FileSafety.checkDirectory(path.directoryPath)
    try FileSafety.checkFile(file.status, at: path)
    return file
  }

  /// Makes the directory, unless it is there.
  func makeDirectory() throws(SecretError) {
    try SecretError.files { try POSIXDisk().makeDirectories(path.directoryPath) }
    try FileSafety.checkDirectory(path.directoryPath)
  }

  /// Runs `body` while no other program writes the vault.
  func locked<Result>(_ body: () throws(SecretError) -> Result) throws(SecretError) -> Result {
    // It may have been opened to others since the vault was read.
    try FileSafety.checkDirectory(path.directoryPath)
    return try SecretError.files {
      try lock.hold(for: FileLock.writerLimit) { try body() }
    }
  }

  func create(_ data: Data) throws(SecretError) {
    try SecretError.files { try file.create(with: data) }
  }

  func replace(with data: Data) throws(SecretError) {
    try SecretError.files { try file.replace(with: data, permissions: .ownerOnly) }
  }

  /// The error for a vault that is not there.
  var missing: SecretError {
    SecretError(
      code: .notInitialized,
      message: "There is no vault at \(path). Bring it back from a copy, or make a new one: "
        + "Vault(at:key:opening: .create).")
  }
}
