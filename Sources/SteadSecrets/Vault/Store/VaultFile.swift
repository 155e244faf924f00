import Foundation
import SteadFiles

/// A vault's file, with its lock and its directory.
struct VaultFile: Sendable {
  /// The path of the file itself; links on the way to it were followed once.
  let path: String
  private let file: AtomicFile
  private let lock: FileLock

  init(_ url: URL) throws(SecretError) {
    let target = try SecretError.files { try POSIXDisk().resolveLinks(url.checkedPath) }
    path = target
    file = AtomicFile(URL(filePath: target))
    // Next to the file itself, so that all links to it lead to one lock.
    lock = FileLock(URL(filePath: target + ".lock"))
  }

  /// The file's status; nil when it does not exist.
  func status() throws(SecretError) -> FileStatus? {
    try SecretError.files { try POSIXDisk().status(at: path) }
  }

  /// Remembers which vault was last here.
  func pin(_ environment: [String: String]) -> VaultPin {
    VaultPin(vault: path, environment: environment)
  }

  /// The error for a vault that isn't the one that was here before.
  var exchanged: SecretError {
    SecretError(
      code: .anotherVault,
      message: "Another vault has replaced the one at \(path). If you put it there on "
        + "purpose, call Vault.acceptRollback(at:key:); otherwise restore the right one.")
  }

  /// Opens the file, and checks that it belongs to the user; nil when it does not exist.
  func open() throws(SecretError) -> OpenFile? {
    let file = try OpenFile(readingIfPresent: path)
    guard let file else { return nil }
    try FileSafety.checkDirectory(path.directoryPath)
    try FileSafety.checkFile(file.status, at: path)
    return file
  }

  /// Creates the directory if it is missing, but not the home of an environment.
  func makeDirectory(_ environment: [String: String]) throws(SecretError) {
    try SecretError.files {
      try POSIXDisk().makeDirectories(path.directoryPath, outside: environment.home)
    }
    try FileSafety.checkDirectory(path.directoryPath)
  }

  /// Runs `body` while no other program writes the vault.
  ///
  /// A lock excludes nobody once its file is removed, as cleaners of `*.lock` do. So `body` may run several times: again
  /// whenever it finds in ``replace(_:with:)`` or ``create(_:)`` that the vault was written meanwhile.
  func locked<Result>(_ body: () throws(SecretError) -> Result) throws(SecretError) -> Result {
    // It may have been opened to others since the vault was read.
    try FileSafety.checkDirectory(path.directoryPath)
    defer { VaultNotices.deliver() }
    for _ in 0..<Vault.replacementLimit {
      do throws(SecretError) {
        return try SecretError.files { try lock.hold(for: FileLock.writerLimit) { try body() } }
      } catch {
        let code = (error.cause as? FileError)?.code
        guard code == .changed || code == .alreadyExists else { throw error }
      }
    }
    throw SecretError(
      code: .failed,
      message: "Other programs wrote the vault \(path) at each of \(Vault.replacementLimit) "
        + "attempts. Stop what removes its lock, \(path.fileName).lock, and try again.")
  }

  func create(_ data: Data) throws(SecretError) {
    try SecretError.files { try file.create(with: data) }
  }

  /// Replaces the file, if it is still the one that a snapshot is of; see ``locked(_:)``.
  func replace(_ snapshot: VaultSnapshot, with data: Data) throws(SecretError) {
    try SecretError.files {
      try file.replace(with: data, ifStill: snapshot.status, permissions: .ownerOnly)
    }
  }

  /// The error for a missing vault.
  var missing: SecretError {
    SecretError(
      code: .notInitialized,
      message: "No vault exists at \(path). Restore it from a copy, or create a new one: "
        + "Vault(at:key:opening: .create).")
  }
}

extension [String: String] {
  /// The home that an environment names, or the process's.
  var home: HomeDirectory? { try? AppDirectories(id: "stead", environment: self).home }
}
