import Foundation
import SteadFiles

/// A key that opens a vault.
///
/// None is ever derived from the host name or the machine identifier, which others can know.
public enum VaultKey: Sendable {
  /// A passphrase that a person knows, and the cost of trying one. The cost applies when a slot is created;
  /// opening uses the slot's own. The bytes are used unchanged: normalize a typed string first.
  case passphrase(SecretBytes, VaultScrypt = .standard)
  /// A file of 32 or more random bytes that belongs to the user and is closed to others. If missing, it is
  /// created with the vault, or when it is added to one. It protects copies of the vault that are kept apart
  /// from it, but not from anyone who can read the user's files.
  case keyFile(URL)
  /// A credential of 32 or more bytes that systemd gives to the service, in the directory
  /// `$CREDENTIALS_DIRECTORY`. Create it with `head -c 32 /dev/urandom | systemd-creds encrypt --name=NAME -
  /// NAME.cred`.
  case systemdCredential(name: String)
  /// 32 random bytes in another store. If missing, they are created with the vault, or when they are added to one.
  case stored(in: any SecretStore, SecretID)
}

extension VaultKey {
  /// The minimum length of a key that isn't a passphrase.
  public static let minimumSize = 32
  /// The maximum length of a key.
  public static let maximumSize = 64 << 10

  var kind: VaultKeySlot.Kind {
    switch self {
    case .passphrase: .passphrase
    case .keyFile: .keyFile
    case .systemdCredential: .systemdCredential
    case .stored: .stored
    }
  }

  var scrypt: VaultScrypt? {
    if case .passphrase(_, let scrypt) = self { scrypt } else { nil }
  }

  /// The key's bytes, from where it is kept.
  ///
  /// - Parameter isNew: Whether to create a missing key.
  /// - Throws: ``SecretError``: `.notFound` when it does not exist, `.accessDenied` when others have access
  ///   to it, `.wrongKey` when its length isn't valid for a key, `.corrupt` when a file has more than 64 KiB.
  func material(creatingIfAbsent isNew: Bool, _ environment: [String: String]) throws(SecretError)
    -> SecretBytes
  {
    let bytes =
      switch self {
      case .passphrase(let bytes, _): bytes
      case .keyFile(let url): try VaultKeyFile(url).bytes(creatingIfAbsent: isNew, environment)
      case .systemdCredential(let name): try VaultCredential(name, environment).bytes()
      case .stored(let store, let id): try Self.stored(in: store, id, creatingIfAbsent: isNew)
      }
    let minimum = kind == .passphrase ? 1 : Self.minimumSize
    // Only a passphrase is stretched by scrypt. A short key of another kind could be found by trying all.
    guard (minimum...Self.maximumSize).contains(bytes.count) else {
      throw SecretError(
        code: .wrongKey,
        message: "A key must have \(minimum) to \(Self.maximumSize) bytes, but this one has "
          + "\(bytes.count). Give the vault's key.")
    }
    return bytes
  }

  /// The key in another store, created there if it is missing and may be created.
  private static func stored(
    in store: any SecretStore, _ id: SecretID, creatingIfAbsent isNew: Bool
  ) throws(SecretError) -> SecretBytes {
    if let found = try store.bytes(for: id) { return found }
    guard isNew else {
      throw SecretError(
        code: .notFound,
        message: "The vault's key is missing in the store that should contain it. Restore it, "
          + "or open the vault with another of its keys.",
        service: id.service, account: id.account)
    }
    do {
      let key = SecretBytes.random(count: minimumSize)
      try store.write(key, for: id, SecretStoreWrite(condition: .ifAbsent, label: "Key of a vault"))
    } catch  where error.code == .duplicateItem {
      // Another program has created it since; its key is read below.
    }
    // Read back in any case: a store that does not return the key would leave a vault that nobody can open.
    guard let kept = try store.bytes(for: id) else {
      throw SecretError(
        code: .failed, message: "The store did not keep the vault's key. Choose another store.",
        service: id.service, account: id.account)
    }
    return kept
  }
}

// MARK: - Key file

/// A file that contains the key of a vault.
struct VaultKeyFile {
  private let path: String
  private let disk = POSIXDisk()

  init(_ url: URL) throws(SecretError) {
    path = try SecretError.files { try url.checkedPath }
  }

  /// The file's contents, which are created if the file is missing and may be created.
  ///
  /// - Throws: ``SecretError``: `.notFound` when it does not exist and must not be created.
  func bytes(creatingIfAbsent isNew: Bool, _ environment: [String: String]) throws(SecretError)
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
    try create(environment)
    guard let created = try read() else {
      throw SecretError(
        code: .failed, message: "The key file \(path) disappeared while it was created. Try again.")
    }
    return created
  }

  private func read() throws(SecretError) -> SecretBytes? {
    // A link is allowed, as for a key on another medium; the checks are of its target.
    let target = try SecretError.files { try disk.resolveLinks(path) }
    // Opened before it is checked: the status is the open file's, and nobody can exchange that.
    guard let file = try OpenFile(readingIfPresent: target) else { return nil }
    try FileSafety.checkFile(file.status, at: target)
    // In a directory of others a file could be replaced by one whose contents they know.
    try FileSafety.checkWritableOnlyByOwner(target.directoryPath)
    return try file.secret(limit: VaultKey.maximumSize)
  }

  private func create(_ environment: [String: String]) throws(SecretError) {
    let key = SecretBytes.random(count: VaultKey.minimumSize)
    // `AtomicFile` takes `Data`. This is the only copy, and nobody else has a reference to it.
    var data = key.withBytes { Data($0) }
    defer { data.wipe() }
    try SecretError.files {
      try disk.makeDirectories(path.directoryPath, outside: environment.home)
      do {
        try AtomicFile(URL(filePath: path)).create(with: data)
      } catch let error as FileError where error.code == .alreadyExists {
        // Another program has created it since. Its key is the one to use.
      }
    }
  }
}

// MARK: - systemd credential

/// A credential that systemd gives to a service, as a file that only the service can read.
struct VaultCredential {
  private let name: String
  private let directory: String?

  init(_ name: String, _ environment: [String: String]) throws(SecretError) {
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), !name.utf8.contains(0) else {
      // The name becomes a path component, and must not lead out of the credentials' directory.
      throw SecretError(
        code: .invalidName,
        message: "A credential's name must not be empty, begin with a dot, or contain a slash or a "
          + "NUL. Choose another.")
    }
    self.name = name
    directory = environment["CREDENTIALS_DIRECTORY"]
  }

  /// The credential's contents.
  func bytes() throws(SecretError) -> SecretBytes {
    guard let directory, directory.hasPrefix("/") else {
      throw SecretError(
        code: .notFound,
        message:
          "No credentials exist, since CREDENTIALS_DIRECTORY isn't set. Run the program "
          + "as a systemd service with LoadCredentialEncrypted=\(name).")
    }
    let path = directory + "/" + name
    guard let file = try OpenFile(readingIfPresent: path) else {
      throw SecretError(
        code: .notFound,
        message: "The credential \(name) does not exist in \(directory). Add "
          + "LoadCredentialEncrypted=\(name) to the service.")
    }
    try FileSafety.checkCredential(file.status, at: path)
    return try file.secret(limit: VaultKey.maximumSize)
  }
}
