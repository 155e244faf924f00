/// A vault that is chosen and not made: it has no items, and that is certain.
///
/// A process that only reads makes no file.
struct VaultToCome: SecretStore {
  let path: String

  var backend: SecretBackend { SecretBackend(kind: .vault, location: path, reason: "") }
  var features: Set<SecretFeature> { [.encryptedAttributes, .persistence] }
  var sizeLimit: Int { Vault.sizeLimit }

  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? { nil }
  func item(for id: SecretID) throws(SecretError) -> SecretItem? { nil }
  func items(service: String) throws(SecretError) -> [SecretItem] { [] }
  func remove(_ id: SecretID) throws(SecretError) -> Bool { false }
  func removeAll(service: String) throws(SecretError) -> Int { 0 }

  func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretWrite
  ) throws(SecretError) {
    throw SecretError(code: .notInitialised, message: "The vault \(path) has not been made.")
  }
}
