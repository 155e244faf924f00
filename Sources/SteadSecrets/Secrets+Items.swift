extension Secrets {
  /// Whether there is a secret for an account; the secret is not read.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable` when the store cannot tell.
  public func contains(_ account: String) throws(SecretError) -> Bool {
    try item(for: account) != nil
  }

  /// What is known of an account's secret without reading it, or nil when there is none.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func item(for account: String) throws(SecretError) -> SecretItem? {
    try naming(account) { () throws(SecretError) in try store.item(for: id(account)) }
  }

  /// What is known of all secrets of the service, in the order of their accounts' UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func items() throws(SecretError) -> [SecretItem] {
    try naming(nil) { () throws(SecretError) in try store.items(service: service) }
  }

  /// What is known of the service's secrets that have all of these attributes, in the order of their accounts' UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func items(
    matching attributes: [String: String]
  ) throws(SecretError) -> [SecretItem] {
    try naming(nil) { () throws(SecretError) in
      try store.items(matching: attributes.merging(["service": service]) { $1 })
    }
  }

  /// The accounts that have a secret, in the order of their UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func accounts() throws(SecretError) -> [String] { try items().map(\.account) }

  /// Removes an account's secret, and returns whether there was one.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does; `.noSpace` or `.accessDenied` when the store
  ///   cannot be written.
  @discardableResult
  public func remove(_ account: String) throws(SecretError) -> Bool {
    try naming(account) { () throws(SecretError) in try store.remove(id(account)) }
  }

  /// Removes all secrets of the service, and returns how many there were.
  ///
  /// - Throws: ``SecretError`` as ``remove(_:)`` does.
  @discardableResult
  public func removeAll() throws(SecretError) -> Int {
    try naming(nil) { () throws(SecretError) in try store.removeAll(service: service) }
  }
}
