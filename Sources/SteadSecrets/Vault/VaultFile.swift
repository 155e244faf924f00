import Crypto
import Foundation
import SteadFiles

/// A vault's file, with its lock, its directory and its pin.
struct VaultFile: Sendable {
  /// The path of the file itself; links on the way to it were followed once.
  let path: String
  private let file: AtomicFile
  private let lock: FileLock

  init(_ url: URL) throws(SecretError) {
    let target = try SecretError.files { try POSIXDisk().resolveLinks(url.checkedPath) }
    // Once, at the beginning: a write replaces the target, and a link that is changed later must not redirect it.
    path = target
    file = AtomicFile(URL(filePath: target))
    // Next to the target of links, so that all paths to a vault lead to one lock.
    lock = FileLock(URL(filePath: target + ".lock"))
  }

  /// The file's status; nil when it does not exist.
  func status() throws(SecretError) -> FileStatus? {
    try SecretError.files { try POSIXDisk().status(at: path) }
  }

  /// The record of which vault was last at the path.
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
    // The directory, too: whoever can write in it can exchange the file.
    try FileSafety.checkDirectory(path.directoryPath)
    try FileSafety.checkFile(file.status, at: path)
    return file
  }

  /// Creates the directory if it is missing, but never the user's home, which may not be mounted.
  func makeDirectory(_ environment: [String: String]) throws(SecretError) {
    try SecretError.files {
      try POSIXDisk().makeDirectories(path.directoryPath, outside: environment.home)
    }
    try FileSafety.checkDirectory(path.directoryPath)
  }

  /// Runs `body` under the vault's lock, and again if the vault was written nevertheless.
  ///
  /// The lock excludes nobody once its file is removed, as cleaners of `*.lock` do: the next program locks a new
  /// file. So ``replace(_:with:)`` and ``link(_:)`` compare the vault with what was read, and throw `.changed` or
  /// `.alreadyExists`. Then `body` has to start over with the new contents, or the other write would be lost.
  func locked<Result>(_ body: () throws(SecretError) -> Result) throws(SecretError) -> Result {
    // The directory's mode may have changed since the vault was opened.
    try FileSafety.checkDirectory(path.directoryPath)
    defer { VaultProblems.reportPending() }
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

  /// Writes a new vault; never replaces an existing file.
  func link(_ data: Data) throws(SecretError) {
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
  /// The home that an environment names, or the process's own; directories are created below it, but it isn't.
  var home: HomeDirectory? { try? AppDirectories(id: "stead", environment: self).home }
}

// MARK: - Opening and creating

extension VaultFile {
  /// Opens or creates a vault, and returns its root key and contents.
  ///
  /// A vault that exists is opened without the lock, which a directory that is read-only would not allow. The
  /// lock is only taken to create one, and everything is checked again under it.
  func open(
    _ key: VaultKey, _ opening: Vault.Opening, _ environment: [String: String]
  ) throws(SecretError) -> (VaultRoot, VaultSnapshot) {
    let pin = pin(environment)
    if opening != .create {
      // The pin before the vault: if another process creates both in between, only the vault is found, and
      // opened. In the other order only the pin would be found, as if a vault had disappeared.
      let remembered = pin.id()
      if let opened = try openIfPresent(key, environment, expecting: remembered) { return opened }
      // A vault that has disappeared must not look like one that never had secrets.
      guard opening == .openOrCreate, remembered == nil else { throw missing }
    }
    try makeDirectory(environment)
    // Another process may have created a vault while this one waited for the lock, so everything is looked up again.
    return try locked { () throws(SecretError) in
      if opening == .openOrCreate {
        let remembered = pin.id()
        if let opened = try openIfPresent(key, environment, expecting: remembered) { return opened }
        guard remembered == nil else { throw missing }
      }
      guard try status() == nil else {
        throw SecretError(
          code: .duplicateItem,
          message: "Something already exists at \(path). Open it, or choose another location.")
      }
      return try create(key, environment)
    }
  }

  /// Opens the vault; nil if there is none.
  ///
  /// - Parameter id: The identity that the vault must have; nil for any.
  /// - Throws: ``SecretError`` when it exists and does not open.
  func openIfPresent(
    _ key: VaultKey, _ environment: [String: String], expecting id: [UInt8]?
  ) throws(SecretError) -> (VaultRoot, VaultSnapshot)? {
    guard let file = try open() else { return nil }
    let (data, header) = try read(file)
    // After the header was verified: no key is looked for, and no passphrase stretched, for a damaged file.
    let material = try key.material(creatingIfAbsent: false, environment)
    let isExpected = id == nil || id == header.id
    guard let (root, _) = try header.root(for: key.kind, by: material) else {
      throw isExpected ? header.wrongKey(key.kind, path) : exchanged
    }
    // The index has been authenticated with the header, and so with the identity. Checked before, a damaged
    // identity would be reported as another vault.
    let snapshot = try VaultSnapshot(data, of: file, header: header, root: root)
    guard isExpected else { throw exchanged }
    return (root, snapshot)
  }

  /// The contents of a file, checked as far as possible without a key: the header's form, limits and digest.
  ///
  /// The digest tells damage from a wrong key before a key is tried. It protects from accidents only; the index
  /// authenticates the header.
  func read(_ file: OpenFile) throws(SecretError) -> (Data, VaultHeader) {
    let data = try file.data(limit: VaultLayout.fileLimit)
    let header = try data.withUnsafeBytes { bytes in
      Result { () throws(SecretError) in try VaultHeader(parsing: bytes) }
    }.get()
    let end = header.size - VaultLayout.digestSize
    guard Crypto.SHA256.hash(data: data[..<end]).elementsEqual(data[end..<header.size]) else {
      throw .damagedVault("its header differs from what was written")
    }
    return (data, header)
  }

  /// Creates a vault without items. Requires the lock.
  ///
  /// It is read back from the file, so that what the caller gets is what the next program will open.
  private func create(
    _ key: VaultKey, _ environment: [String: String]
  ) throws(SecretError) -> (VaultRoot, VaultSnapshot) {
    let id = [UInt8].random(count: VaultLayout.idSize)
    let root = VaultRoot.random()
    // The key before the vault: a process that is killed in between leaves a key that opens nothing, and no vault
    // that nothing opens.
    let material = try key.material(creatingIfAbsent: true, environment)
    let slot = try VaultSlot.sealing(
      root, of: id, kind: key.kind, scrypt: key.scrypt, material: material)
    let (data, _) = try VaultDraft(id: id, slots: [slot]).file(root: root)
    try link(data)
    guard let file = try open() else { throw missing }
    let (written, header) = try read(file)
    return (root, try VaultSnapshot(written, of: file, header: header, root: root))
  }
}

extension VaultHeader {
  /// The root key, and the slot that a key opens; nil when it opens none.
  ///
  /// Costs a derivation for each slot of the kind. Limits on the parsed header keep that to some seconds
  /// (``VaultScrypt/totalWorkLimit``).
  func root(
    for kind: VaultKeySlot.Kind, by material: SecretBytes
  ) throws(SecretError) -> (VaultRoot, VaultSlot)? {
    for slot in slots where slot.kind == kind {
      if let root = try slot.root(of: id, by: material) { return (root, slot) }
    }
    return nil
  }

  /// The error for a key that opens no slot.
  func wrongKey(_ kind: VaultKeySlot.Kind, _ path: String) -> SecretError {
    let isThere = slots.contains { $0.kind == kind }
    return SecretError(
      code: .wrongKey,
      message: isThere
        ? "The key does not open the vault \(path). Use another one."
        : "The vault \(path) requires another kind of key than this. Use one of those.")
  }
}
