import Foundation
import SteadFiles

/// A vault at a location that the program names, which the first write creates if it is missing.
///
/// Reads do not create it: a mistyped path would leave an empty vault behind, and look like one without
/// secrets from then on.
final class NamedVault: SecretStore {
  private let url: URL
  private let key: VaultKey?
  private let opener: StoreOpener
  private let vault = ForkSafeLock<Vault?>(nil)

  /// - Parameter key: The key that opens it; nil means the keys of a default vault.
  /// - Throws: ``SecretError`` when the vault exists and does not open, or existed before.
  init(at url: URL, key: VaultKey?, opener: StoreOpener) throws(SecretError) {
    (self.url, self.key, self.opener) = (url, key, opener)
    _ = try current()
  }

  /// The vault, or one without items if it was never created.
  ///
  /// A vault that existed and has disappeared is an error, not a vault without items.
  private func current() throws(SecretError) -> any SecretStore {
    if let cached = vault.withLock({ $0 }) { return cached }
    guard try opener.isVaultExpected(at: url) else {
      // Not cached: another process may create the vault at any moment, and its secrets must be
      // found then.
      return PlannedVault(path: url.path(percentEncoded: false))
    }
    return cache(try opener.openVault(at: url, key: key, .open))
  }

  /// The vault, which is created if necessary.
  private func createdIfMissing() throws(SecretError) -> Vault {
    if let cached = vault.withLock({ $0 }) { return cached }
    return cache(try opener.openVault(at: url, key: key, .openOrCreate))
  }

  /// Caches the vault. If two threads open it at once, both get the same object, and so share its snapshot.
  private func cache(_ opened: Vault) -> Vault {
    vault.withLock { vault in
      let kept = vault ?? opened
      vault = kept
      return kept
    }
  }

  private var cached: any SecretStore {
    vault.withLock { $0 } ?? PlannedVault(path: url.path(percentEncoded: false))
  }
}

extension NamedVault {
  var storeDescription: SecretStoreDescription { cached.storeDescription }
  var features: Set<SecretStoreFeature> { cached.features }
  var sizeLimit: Int { cached.sizeLimit }

  func state() throws(SecretError) -> SecretStoreState { try current().state() }

  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? { try current().bytes(for: id) }

  func item(for id: SecretID) throws(SecretError) -> SecretItem? { try current().item(for: id) }

  func items(service: String) throws(SecretError) -> [SecretItem] {
    try current().items(service: service)
  }

  func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    try current().items(matching: attributes)
  }

  func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    // A secret that no vault accepts does not create one.
    try check(bytes, write)
    try createdIfMissing().write(bytes, for: id, write)
  }

  func remove(_ id: SecretID) throws(SecretError) -> Bool { try current().remove(id) }

  func removeAll(service: String) throws(SecretError) -> Int {
    try current().removeAll(service: service)
  }
}

// MARK: - Not created yet

/// A vault that has not been created yet, which certainly has no items.
///
/// It stands in for the vault, so that a process that only reads creates no file.
struct PlannedVault: SecretStore {
  let path: String

  var storeDescription: SecretStoreDescription {
    SecretStoreDescription(kind: .vault, location: path, reason: "The caller named the vault.")
  }
  var features: Set<SecretStoreFeature> { [.encryptedAttributes, .persistence] }
  var sizeLimit: Int { Vault.sizeLimit }

  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? { nil }
  func item(for id: SecretID) throws(SecretError) -> SecretItem? { nil }
  func items(service: String) throws(SecretError) -> [SecretItem] { [] }
  func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] { [] }
  func remove(_ id: SecretID) throws(SecretError) -> Bool { false }
  func removeAll(service: String) throws(SecretError) -> Int { 0 }

  func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    throw SecretError(
      code: .notInitialized,
      message: "The vault \(path) has not been created. Write a secret to create it.")
  }
}
