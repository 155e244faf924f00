import Foundation

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

  /// The key's bytes.
  ///
  /// - Parameter isNew: Whether to create a missing key.
  /// - Throws: ``SecretError``: `.notFound` when it does not exist, `.accessDenied` when others have access
  ///   to it, `.wrongKey` when its length isn't valid for a key, `.corrupt` when a file has more than 64 KiB.
  func material(makingIfAbsent isNew: Bool, _ environment: [String: String]) throws(SecretError)
    -> SecretBytes
  {
    let bytes =
      switch self {
      case .passphrase(let bytes, _): bytes
      case .keyFile(let url): try VaultKeyFile(url).bytes(makingIfAbsent: isNew, environment)
      case .systemdCredential(let name): try VaultCredential(name, environment).bytes()
      case .stored(let store, let id): try Self.stored(in: store, id, makingIfAbsent: isNew)
      }
    let minimum = kind == .passphrase ? 1 : Self.minimumSize
    guard (minimum...Self.maximumSize).contains(bytes.count) else {
      throw SecretError(
        code: .wrongKey,
        message: "A key must have \(minimum) to \(Self.maximumSize) bytes, but this one has "
          + "\(bytes.count). Give the vault's key.")
    }
    return bytes
  }

  private static func stored(
    in store: any SecretStore, _ id: SecretID, makingIfAbsent isNew: Bool
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
      // Another program came first; its key is read below.
    }
    guard let kept = try store.bytes(for: id) else {
      throw SecretError(
        code: .failed, message: "The store did not keep the vault's key. Choose another store.",
        service: id.service, account: id.account)
    }
    return kept
  }
}
