import Foundation
import SteadFiles

/// A file that contains the key of a vault.
struct VaultKeyFile {
  private let path: String
  private let disk = POSIXDisk()

  init(_ url: URL) throws(SecretError) {
    path = try SecretError.files { try url.checkedPath }
  }

  /// - Throws: ``SecretError``: `.notFound` when it does not exist and must not be created.
  func bytes(makingIfAbsent isNew: Bool, _ environment: [String: String]) throws(SecretError)
    -> SecretBytes
  {
    if let found = try read() { return found }
    guard isNew else {
      throw SecretError(
        code: .notFound,
        message:
          "The key file \(path) does not exist. Restore it from a copy, or open "
          + "the vault with another of its keys.")
    }
    try make(environment)
    guard let made = try read() else {
      throw SecretError(
        code: .failed, message: "The key file \(path) disappeared while it was created. Try again.")
    }
    return made
  }

  private func read() throws(SecretError) -> SecretBytes? {
    let target = try SecretError.files { try disk.resolveLinks(path) }
    guard let file = try OpenFile(readingIfPresent: target) else { return nil }
    try FileSafety.checkFile(file.status, at: target)
    try FileSafety.checkUnwritable(target.directoryPath)
    return try file.secret(limit: VaultKey.maximumSize)
  }

  private func make(_ environment: [String: String]) throws(SecretError) {
    let key = SecretBytes.random(count: VaultKey.minimumSize)
    var data = key.withBytes { Data($0) }
    defer { data.wipe() }
    try SecretError.files {
      try disk.makeDirectories(path.directoryPath, outside: environment.home)
      do {
        try AtomicFile(URL(filePath: path)).create(with: data)
      } catch let error as FileError where error.code == .alreadyExists {
        // Another program came first, and its key is the one to use.
      }
    }
  }
}
