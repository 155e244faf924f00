extension Secrets {
  /// Whether an account has a secret; the secret isn't read.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable` when the store cannot determine it.
  public func contains(_ account: String) throws(SecretError) -> Bool {
    try item(for: account) != nil
  }

  /// The metadata of an account's secret, or nil if none exists; the secret isn't read.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func item(for account: String) throws(SecretError) -> SecretItem? {
    try naming(account) { () throws(SecretError) in try store.item(for: id(account)) }
  }

  /// The metadata of all secrets of the service, sorted by their accounts' UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func items() throws(SecretError) -> [SecretItem] {
    try naming(nil) { () throws(SecretError) in try store.items(service: service) }
  }

  /// The metadata of the service's secrets that have all of these attributes, sorted by their accounts' UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func items(
    matching attributes: [String: String]
  ) throws(SecretError) -> [SecretItem] {
    try naming(nil) { () throws(SecretError) in
      try store.items(matching: attributes.merging(["service": service]) { $1 })
    }
  }

  /// The accounts that have a secret, sorted by their UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func accounts() throws(SecretError) -> [String] { try items().map(\.account) }

  /// Removes an account's secret, and returns whether it existed.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does; `.noSpace` or `.accessDenied` when the store
  ///   cannot be written.
  @discardableResult
  public func remove(_ account: String) throws(SecretError) -> Bool {
    try naming(account) { () throws(SecretError) in try store.remove(id(account)) }
  }

  /// Removes all secrets of the service, and returns their number.
  ///
  /// - Throws: ``SecretError`` as ``remove(_:)`` does.
  @discardableResult
  public func removeAll() throws(SecretError) -> Int {
    try naming(nil) { () throws(SecretError) in try store.removeAll(service: service) }
  }
}
