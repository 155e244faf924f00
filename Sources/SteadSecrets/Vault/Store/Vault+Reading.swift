extension Vault {
  /// The secret of a name, or nil when there is none.
  ///
  /// - Throws: ``SecretError``: `.notInitialized` when the file is gone, `.corrupt`, `.rolledBack` and
  ///   others when what is in its place does not open.
  public func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
    let snapshot = try current()
    let found = snapshot.position(of: id)
    return found.isThere ? try snapshot.secret(at: found.index, root: root) : nil
  }

  /// What is known of a secret without reading it, or nil when there is none.
  public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
    let snapshot = try current()
    let found = snapshot.position(of: id)
    return found.isThere ? snapshot.entries[found.index].item : nil
  }

  /// What is known of all secrets of a service, in the order of their accounts' UTF-8.
  public func items(service: String) throws(SecretError) -> [SecretItem] {
    let snapshot = try current()
    return snapshot.entries[snapshot.positions(service: service)].map(\.item)
  }

  /// What is known of the secrets of all services that have these attributes, in the order of their services' and
  /// accounts' UTF-8.
  public func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    let snapshot = try current()
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
