#if canImport(Security)
  import Foundation
  import Security

  // Not run on this project's machines.

  extension Keychain {
    /// All items of a service, or of every service, regardless of synchronization.
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

    /// Returns whether there was something to delete.
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
