#if !canImport(Security)
  extension StoreOpener {
    static let keychain: ChosenPlace? = nil

    func openKeychain(_ place: ChosenPlace) throws(SecretError) -> any SecretStore {
      throw SecretError(
        code: .unavailable(.notOnThisSystem), message: "This system has no Keychain.")
    }
  }
#endif
