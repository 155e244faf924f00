#if canImport(Security)
  // Not run on this project's machines.
  extension StoreOpener {
    static let hasKeychain = true

    func openKeychain() throws(SecretError) -> any SecretStore { Keychain() }
  }
#endif
