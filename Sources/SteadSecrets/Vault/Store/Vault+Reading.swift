extension Vault {
  /// The secret of a name, or nil if none exists.
  ///
  /// - Throws: ``SecretError``: `.notInitialized` when the file has disappeared, `.corrupt`, `.rolledBack`
  ///   and others when the file in its place does not open.
  public func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
    let snapshot = try currentForReading()
    let found = snapshot.position(of: id)
    return found.isThere ? try snapshot.secret(at: found.index, root: root) : nil
  }

  /// A secret's metadata, or nil if none exists; the secret itself isn't decrypted.
  public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
    let snapshot = try currentForReading()
    let found = snapshot.position(of: id)
    return found.isThere ? snapshot.entries[found.index].item : nil
  }

  /// The metadata of all secrets of a service, sorted by their accounts' UTF-8.
  public func items(service: String) throws(SecretError) -> [SecretItem] {
    let snapshot = try currentForReading()
    return snapshot.entries[snapshot.positions(service: service)].map(\.item)
  }

  /// The metadata of the secrets of all services that have these attributes, sorted by the UTF-8 of their
  /// services and accounts.
  public func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    let snapshot = try currentForReading()
    let service = attributes["service"]
    let range = service.map { snapshot.positions(service: $0) } ?? snapshot.entries.indices
    return snapshot.entries[range].map(\.item).filter { $0.matches(attributes) }
  }
}

extension VaultEntry {
  var item: SecretItem {
    var names: [String: String] = [:]
    for attribute in attributes { names[attribute.name] = attribute.value }
    return SecretItem(
      service: service, account: account, label: label, attributes: names,
      created: .init(vaultTime: created), modified: .init(vaultTime: modified))
  }
}
