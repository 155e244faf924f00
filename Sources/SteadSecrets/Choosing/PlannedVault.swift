/// A vault that was chosen and has not been created yet: it certainly has no items.
///
/// A process that only reads creates no file.
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
