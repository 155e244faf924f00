#if canImport(Security)
  import Foundation
  import Security
  import SteadFiles

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
    ///
    /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
    public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
      var query = self.query(id)
      query[kSecReturnAttributes as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      guard let found = try copyMatching(query) else { return nil }
      guard let attributes = found as? [String: Any] else { throw unexpectedResult }
      return SecretItem(attributes, service: id.service)
    }

    /// The metadata of all secrets of a service, sorted by their accounts' UTF-8.
    ///
    /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
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
    ///
    /// It reads the metadata of every generic password that the program can see.
    ///
    /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
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
    ///
    /// - Throws: ``SecretError``: `.locked`, `.interactionRequired`, `.cancelled` or `.accessDenied` when the
    ///   Keychain refuses it; and the errors of the lock's file, such as `.noSpace`.
    @discardableResult
    public func remove(_ id: SecretID) throws(SecretError) -> Bool {
      try withWriteLock { () throws(SecretError) in try delete(query(id)) }
    }

    /// Removes all secrets of a service, and returns their number.
    ///
    /// - Throws: ``SecretError`` as ``remove(_:)`` does; some may have been removed by then.
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

  // MARK: - Writing

  extension Keychain {
    /// Stores a secret, if the write's condition holds.
    ///
    /// The Keychain itself creates new items one at a time. For everything else a lock in the app's own
    /// temporary directory synchronizes the app's processes; other apps of an access group are not excluded,
    /// and can write between the check of an item and its change.
    ///
    /// A requirement also changes an existing item: it gets the accessibility, moves to the access group or
    /// starts being synchronized. A later write without requirements reverts none of these.
    ///
    /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not
    ///   hold, `.tooLarge` above ``sizeLimit-swift.type.property``, `.unsupported` for a requirement that the
    ///   login keychain lacks, and for a secret that should both go to other devices and never leave this
    ///   one.
    public func write(
      _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
    ) throws(SecretError) {
      try check(bytes, write)
      let changes = try attributes(of: write)
      try withWriteLock { () throws(SecretError) in
        // `SecItemAdd` and `SecItemUpdate` each check and act atomically, so they decide whether the item
        // exists. An unconditional write tries both, and again if another app has added or removed the item
        // in between.
        for _ in 0..<Self.attemptLimit {
          if case .ifHolding = write.condition {
            // The Keychain has no comparison of contents. The lock excludes the app's own processes meanwhile.
            try write.condition.check(self.bytes(for: id), for: id)
          }
          switch write.condition {
          case .ifAbsent:
            if try add(bytes, id, changes) { return }
            throw SecretError(keychain: errSecDuplicateItem, doing: "add the item")
          case .ifPresent, .ifHolding:
            if try update(bytes, id, changes) { return }
            try SecretStoreWrite.Condition.ifPresent.check(nil, for: id)
          case .always:
            if try update(bytes, id, changes) { return }
            if try add(bytes, id, changes) { return }
          }
        }
        throw SecretError(
          code: .failed, message: "Other apps keep adding and removing the item. Try again.")
      }
    }

    /// The attributes that a write sets besides the secret.
    private func attributes(of write: SecretStoreWrite) throws(SecretError) -> [String: Any] {
      var attributes: [String: Any] = [:]
      if let label = write.label { attributes[kSecAttrLabel as String] = label }
      if let further = write.attributes {
        do {
          attributes[kSecAttrGeneric as String] = try JSONEncoder().encode(further)
        } catch {
          throw SecretError(
            code: .notDecodable, message: "The attributes cannot be encoded.", cause: error)
        }
      }
      let requirements = write.requirements
      // A contradiction of the caller's, which is refused before anything is written.
      if let accessibility = requirements.accessibility {
        guard !(requirements.isSynchronizable && accessibility.staysOnDevice) else {
          throw SecretError(
            code: .unsupported,
            message: "A secret cannot both stay on this device and go to others. Choose one.",
            feature: .synchronization)
        }
        attributes[kSecAttrAccessible as String] = accessibility.keychainValue
      }
      if let group = requirements.accessGroup {
        attributes[kSecAttrAccessGroup as String] = group
      }
      if requirements.isSynchronizable { attributes[kSecAttrSynchronizable as String] = true }
      return attributes
    }

    /// Adds an item; false when one of the name already exists.
    private func add(
      _ bytes: SecretBytes, _ id: SecretID, _ changes: [String: Any]
    ) throws(SecretError) -> Bool {
      var item = query(id)
      // "Any" is for queries; an added item needs one value or the other.
      item[kSecAttrSynchronizable as String] = nil
      // Replaced below by the write's own label, if it has one.
      item[kSecAttrLabel as String] = id.defaultLabel
      item.merge(changes) { $1 }
      let status = bytes.withData { data in
        item[kSecValueData as String] = data
        return SecItemAdd(item as CFDictionary, nil)
      }
      if status == errSecDuplicateItem { return false }
      guard status == errSecSuccess else {
        throw SecretError(keychain: status, doing: "add the item")
      }
      return true
    }

    /// Changes an item; false when none of the name exists.
    private func update(
      _ bytes: SecretBytes, _ id: SecretID, _ changes: [String: Any]
    ) throws(SecretError) -> Bool {
      var changes = changes
      let status = bytes.withData { data in
        changes[kSecValueData as String] = data
        return SecItemUpdate(query(id) as CFDictionary, changes as CFDictionary)
      }
      if status == errSecItemNotFound { return false }
      guard status == errSecSuccess else {
        throw SecretError(keychain: status, doing: "change the item")
      }
      return true
    }

    /// Calls `body` while no other process of the app writes with a condition.
    func withWriteLock<Result>(
      _ body: () throws(SecretError) -> Result
    ) throws(SecretError) -> Result {
      try SecretError.files {
        let directories = try AppDirectories(id: "stead")
        try directories.create(\.runtime)
        let lock = FileLock(directories.runtime.appending(path: "keychain.lock"))
        return try lock.withLock { try body() }
      }
    }
  }

  extension SecretBytes {
    /// Calls `body` with data that isn't a copy, and must not be used after it returns.
    fileprivate func withData<Result>(_ body: (Data) -> Result) -> Result {
      withBytes { (bytes) throws(Never) in
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return body(Data()) }
        return body(
          Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
            deallocator: .none))
      }
    }
  }

  extension SecretRequirements.Accessibility {
    fileprivate var keychainValue: CFString {
      switch self {
      case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
      case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
      case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
      case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
      case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
      }
    }

    fileprivate var staysOnDevice: Bool {
      switch self {
      case .whenUnlocked, .afterFirstUnlock: false
      case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
        .whenPasscodeSetThisDeviceOnly:
        true
      }
    }
  }

  // MARK: - Queries

  extension Keychain {
    /// The query for all items of a service, or of every service, synchronized or not.
    func query(service: String?) -> [String: Any] {
      var query: [String: Any] = [kSecClass as String: kSecClassGenericPassword]
      query[kSecAttrService as String] = service
      switch kind {
      case .dataProtection:
        query[kSecUseDataProtectionKeychain as String] = true
        // Without this key synchronized items would seem to be missing.
        query[kSecAttrSynchronizable as String] = kSecAttrSynchronizableAny
      case .login: break
      }
      return query
    }

    /// The query for the item of a name.
    func query(_ id: SecretID) -> [String: Any] {
      var query = self.query(service: id.service)
      query[kSecAttrAccount as String] = id.account
      return query
    }

    /// The result of a query; nil if nothing matches.
    func copyMatching(_ query: [String: Any]) throws(SecretError) -> CFTypeRef? {
      var result: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &result)
      if status == errSecItemNotFound { return nil }
      guard status == errSecSuccess else {
        throw SecretError(keychain: status, doing: "read the item")
      }
      return result
    }

    /// Deletes the items of a query, and returns whether there were any.
    func delete(_ query: [String: Any]) throws(SecretError) -> Bool {
      let status = SecItemDelete(query as CFDictionary)
      if status == errSecItemNotFound { return false }
      guard status == errSecSuccess else {
        throw SecretError(keychain: status, doing: "remove the item")
      }
      return true
    }

    var unexpectedResult: SecretError {
      SecretError(
        code: .corrupt, message: "The Keychain returned something other than what was requested.")
    }
  }

  extension SecretItem {
    /// Nil for an item without an account, which isn't one of ours.
    init?(_ attributes: [String: Any], service: String) {
      guard let account = attributes[kSecAttrAccount as String] as? String, !account.isEmpty
      else { return nil }
      let further = (attributes[kSecAttrGeneric as String] as? Data)
        .flatMap { try? JSONDecoder().decode([String: String].self, from: $0) }
      self.init(
        service: service, account: account,
        label: attributes[kSecAttrLabel as String] as? String ?? "",
        // Items of other programs remain theirs.
        attributes: further ?? [:],
        created: attributes[kSecAttrCreationDate as String] as? Date,
        modified: attributes[kSecAttrModificationDate as String] as? Date)
    }
  }

  extension SecretError {
    /// Makes the error for a status of the Keychain.
    ///
    /// - Parameter action: What the Keychain could not do, as an infinitive.
    init(keychain status: OSStatus, doing action: String) {
      let reason = SecCopyErrorMessageString(status, nil) as String? ?? "OSStatus \(status)"
      self.init(
        code: Code(keychain: status), message: Self.message(status, action, reason),
        cause: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
    }

    private static func message(_ status: OSStatus, _ action: String, _ reason: String) -> String {
      let advice: String? =
        switch status {
        case errSecInteractionNotAllowed: "Try again once the device is unlocked."
        case errSecMissingEntitlement:
          "Sign the app with the entitlement keychain-access-groups, or use Keychain(.login) on "
            + "macOS."
        case errSecNotAvailable: "This user has no keychain; log in first."
        case errSecAuthFailed: "Allow this program's access to the item."
        default: nil
        }
      return ["The Keychain could not \(action): \(reason)", advice].compactMap(\.self)
        .joined(separator: " ")
    }
  }

  extension SecretError.Code {
    init(keychain status: OSStatus) {
      switch status {
      case errSecItemNotFound: self = .notFound
      case errSecDuplicateItem: self = .duplicateItem
      case errSecInteractionNotAllowed: self = .locked
      case errSecInteractionRequired: self = .interactionRequired
      case errSecUserCanceled: self = .cancelled
      case errSecAuthFailed, errSecMissingEntitlement, errSecWrPerm, errSecReadOnly:
        self = .accessDenied
      case errSecNotAvailable, errSecNoSuchKeychain, errSecNoDefaultKeychain:
        self = .notInitialized
      case errSecDecode, errSecInvalidKeychain: self = .corrupt
      case errSecDiskFull: self = .noSpace
      case errSecDataTooLarge: self = .tooLarge
      default: self = .failed
      }
    }
  }
#endif
