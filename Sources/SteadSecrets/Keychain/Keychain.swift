#if canImport(Security)
  import Foundation
  import Security

  // Not run on this project's machines.

  /// Apple's Keychain: the store that the system itself keeps.
  ///
  /// Items are generic passwords. The service, the account and the label are the Keychain's own
  /// attributes, so other programs with access find them; the further attributes are kept as JSON in
  /// the one that the Keychain leaves to apps.
  ///
  /// Secrets pass through memory of the system's, which is not zeroed.
  public struct Keychain: SecretStore {
    /// Which of the two keychains of macOS; other systems have the first alone.
    public enum Kind: Hashable, Sendable {
      /// The one that iOS has, too: protected by the device's lock, with accessibility classes and
      /// access groups. On macOS the app has to be signed with an entitlement for it.
      case dataProtection
      /// The user's login keychain, which programs without entitlements can use, on macOS.
      case login
    }

    /// The largest secret that it takes, 1 MiB; the Keychain is for small ones.
    public static let sizeLimit = 1 << 20
    /// How often a write is begun anew when others make or remove the item in between.
    static let attemptLimit = 100

    let kind: Kind

    /// A keychain of the user's.
    public init(_ kind: Kind = .dataProtection) { self.kind = kind }

    /// The Keychain; as chosen by the caller.
    public var storeDescription: SecretStoreDescription {
      SecretStoreDescription(
        kind: .keychain, location: kind == .login ? "login" : nil,
        reason: "The caller chose it. The system protects the secrets from other apps.")
    }

    /// All but locking, which is the system's affair; the login keychain has persistence alone.
    public var features: Set<SecretStoreFeature> {
      switch kind {
      case .dataProtection:
        [.encryptedAttributes, .accessibility, .accessGroups, .synchronization, .persistence]
      case .login: [.persistence]
      }
    }

    /// The largest secret that it takes, in bytes.
    public var sizeLimit: Int { Self.sizeLimit }

    /// The secret of a name, or nil when there is none.
    ///
    /// - Throws: ``SecretError``: `.locked` while the device's state keeps it from being read,
    ///   `.interactionRequired`, `.cancelled`, `.accessDenied`.
    public func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
      var query = self.query(id)
      query[kSecReturnData as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      guard let found = try copyMatching(query) else { return nil }
      guard let data = found as? Data else { throw unexpectedResult }
      return SecretBytes(data)
    }

    /// What is known of a secret without reading it, or nil when there is none.
    public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
      var query = self.query(id)
      query[kSecReturnAttributes as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      guard let found = try copyMatching(query) else { return nil }
      guard let attributes = found as? [String: Any] else { throw unexpectedResult }
      return SecretItem(attributes, service: id.service)
    }

    /// What is known of all secrets of a service, in the order of their accounts' UTF-8.
    public func items(service: String) throws(SecretError) -> [SecretItem] {
      var query = self.query(service: service)
      query[kSecReturnAttributes as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitAll
      guard let found = try copyMatching(query) else { return [] }
      guard let items = found as? [[String: Any]] else { throw unexpectedResult }
      return items.compactMap { SecretItem($0, service: service) }
        .sorted { $0.account.utf8.lexicographicallyPrecedes($1.account.utf8) }
    }

    /// What is known of the secrets of all services that have these attributes, in the order of their services'
    /// and accounts' UTF-8.
    public func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
      var query = self.query(service: nil)
      query[kSecReturnAttributes as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitAll
      guard let found = try copyMatching(query) else { return [] }
      guard let items = found as? [[String: Any]] else { throw unexpectedResult }
      return items.compactMap { item in
        (item[kSecAttrService as String] as? String).flatMap { SecretItem(item, service: $0) }
      }
      .filter { $0.matches(attributes) }.sorted { $0.precedes($1) }
    }

    /// Removes a secret, and returns whether there was one.
    ///
    /// One that goes to other devices is removed from them, too.
    @discardableResult
    public func remove(_ id: SecretID) throws(SecretError) -> Bool {
      try withWriteLock { () throws(SecretError) in try delete(query(id)) }
    }

    /// Removes all secrets of a service, and returns how many there were.
    @discardableResult
    public func removeAll(service: String) throws(SecretError) -> Int {
      try withWriteLock { () throws(SecretError) in
        // One by one: the login keychain removes a single item in a call.
        var count = 0
        for item in try items(service: service) {
          let id = try SecretID(service: service, account: item.account)
          if try delete(query(id)) { count += 1 }
        }
        return count
      }
    }
  }
#endif
