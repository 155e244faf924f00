#if !canImport(Security)
  extension StoreOpener {
    static let hasKeychain = false

    func openKeychain() throws(SecretError) -> any SecretStore {
      throw SecretError(
        code: .unavailable(.notOnThisSystem), message: "This system has no Keychain.")
    }
  }
#endif
