import Foundation

/// What opens a vault.
///
/// None is ever made from the name of the host or the machine's identifier, which others can know.
public enum VaultKey: Sendable {
  /// What a person knows, and what it is to cost to try one. The cost counts when a slot is made; to
  /// open, the slot's own is used. The bytes count as they are: normalize a typed text first.
  case passphrase(SecretBytes, VaultScrypt = .standard)
  /// A file of 32 bytes or more, chosen at random, that is the user's own and closed to others. It is
  /// made with the vault, or when it is added to one, if it is not there. It protects copies of the
  /// vault that are kept apart from it, and not from who can read the user's files.
  case keyFile(URL)
  /// A credential of 32 bytes or more that systemd gives to the service, in the directory
  /// `$CREDENTIALS_DIRECTORY`. Make it by
  /// `head -c 32 /dev/urandom | systemd-creds encrypt --name=NAME - NAME.cred`.
  case systemdCredential(name: String)
  /// 32 random bytes that another store holds, which are put there with the vault, or when they are
  /// added to one, if they are not there.
  case stored(in: any SecretStore, SecretID)
}

extension VaultKey {
  /// How long a key is at least that is not a passphrase.
  public static let minimumSize = 32
  /// How long a key is at most.
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
  /// - Parameter isNew: Whether a key that is not there is made.
  /// - Throws: ``SecretError``: `.notFound` when there is none, `.accessDenied` when others have access
  ///   to it, `.wrongKey` when its length is not one of a key.
  func material(makingIfAbsent isNew: Bool, _ environment: [String: String]) throws(SecretError)
    -> SecretBytes
  {
    let bytes =
      switch self {
      case .passphrase(let bytes, _): bytes
      case .keyFile(let url): try VaultKeyFile(url).bytes(makingIfAbsent: isNew)
      case .systemdCredential(let name): try VaultCredential(name, environment).bytes()
      case .stored(let store, let id): try Self.stored(in: store, id, makingIfAbsent: isNew)
      }
    let minimum = kind == .passphrase ? 1 : Self.minimumSize
    guard (minimum...Self.maximumSize).contains(bytes.count) else {
      throw SecretError(
        code: .wrongKey,
        message: "A key must have \(minimum) to \(Self.maximumSize) bytes, and this one has "
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
        message: "The store that should hold the vault's key has none of this name. Bring it back, "
          + "or open the vault with another of its keys.",
        service: id.service, account: id.account)
    }
    do {
      let key = SecretBytes.random(count: minimumSize)
      try store.write(key, for: id, SecretStoreWrite(condition: .ifAbsent, label: "Key of a vault"))
    } catch  where error.code == .duplicateItem {
      // Another program was quicker; what it put there is read below.
    }
    guard let kept = try store.bytes(for: id) else {
      throw SecretError(
        code: .failed, message: "The store did not keep the vault's key. Choose another store.",
        service: id.service, account: id.account)
    }
    return kept
  }
}
