#if canImport(Security)
  import Foundation
  import Security

  // Not run on this project's machines.

  /// Apple's Keychain, the system's own store.
  ///
  /// Items are generic passwords. The service, the account and the label are the Keychain's own attributes,
  /// so other programs with access find them; the other attributes are stored as JSON in the one that the
  /// Keychain leaves to apps.
  ///
  /// Secrets pass through the system's memory, which isn't zeroed.
  public struct Keychain: SecretStore {
    /// Which of the two keychains of macOS; other systems have only the first.
    public enum Kind: Hashable, Sendable {
      /// The one that iOS has, too: protected by the device's lock, with accessibility classes and access
      /// groups. On macOS the app has to be signed with an entitlement for it.
      case dataProtection
      /// The user's login keychain, which programs without entitlements can use, on macOS.
      case login
    }

    /// The largest secret that it accepts, 1 MiB; the Keychain is for small ones.
    public static let sizeLimit = 1 << 20
    /// How often a write is retried when others add or remove the item in between.
    static let attemptLimit = 100

    let kind: Kind

    /// Makes a keychain of the user's.
    public init(_ kind: Kind = .dataProtection) { self.kind = kind }

    /// The Keychain, as chosen by the caller.
    public var storeDescription: SecretStoreDescription {
      SecretStoreDescription(
        kind: .keychain, location: kind == .login ? "login" : nil,
        reason: "The caller chose it. The system protects the secrets from other apps.")
    }

    /// All except locking, which is up to the system; the login keychain has only persistence.
    public var features: Set<SecretStoreFeature> {
      switch kind {
      case .dataProtection:
        [.encryptedAttributes, .accessibility, .accessGroups, .synchronization, .persistence]
      case .login: [.persistence]
      }
    }

    /// The largest secret that it accepts, in bytes.
    public var sizeLimit: Int { Self.sizeLimit }

    /// The secret of a name, or nil if none exists.
    ///
    /// - Throws: ``SecretError``: `.locked` while the device's state prevents reading it,
    ///   `.interactionRequired`, `.cancelled`, `.accessDenied`.
    public func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
      var query = self.query(id)
      query[kSecReturnData as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      guard let found = try copyMatching(query) else { return nil }
      guard let data = found as? Data else { throw unexpectedResult }
      return SecretBytes(data)
    }

    /// A secret's metadata, or nil if none exists; the secret itself isn't read.
    public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
      var query = self.query(id)
      query[kSecReturnAttributes as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      guard let found = try copyMatching(query) else { return nil }
      guard let attributes = found as? [String: Any] else { throw unexpectedResult }
      return SecretItem(attributes, service: id.service)
    }

    /// The metadata of all secrets of a service, sorted by their accounts' UTF-8.
    public func items(service: String) throws(SecretError) -> [SecretItem] {
      var query = self.query(service: service)
      query[kSecReturnAttributes as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitAll
      guard let found = try copyMatching(query) else { return [] }
      guard let items = found as? [[String: Any]] else { throw unexpectedResult }
      return items.compactMap { SecretItem($0, service: service) }
        .sorted { $0.account.utf8.lexicographicallyPrecedes($1.account.utf8) }
    }

    /// The metadata of the secrets of all services that have these attributes, sorted by the UTF-8 of their
    /// services and accounts.
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

    /// Removes a secret, and returns whether it existed.
    ///
    /// A synchronized secret is removed from other devices, too.
    @discardableResult
    public func remove(_ id: SecretID) throws(SecretError) -> Bool {
      try withWriteLock { () throws(SecretError) in try delete(query(id)) }
    }

    /// Removes all secrets of a service, and returns their number.
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
