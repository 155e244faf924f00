/// What was found on the system, for a store to be chosen.
struct StoreProbe: Hashable, Sendable {
  /// What came of asking a store for its state.
  enum Finding: Hashable, Sendable {
    case state(SecretStoreState)
    /// Why it cannot be reached; nil when something else is wrong with it.
    case failure(SecretError.Unavailability?)
  }

  /// Where the key of the usual vault is, or will be.
  enum KeyLocation: Hashable, Sendable {
    case systemdCredential(name: String)
    case keyFile(path: String)
  }

  /// Which Keychain the process can use; nil where the system has none.
  var keychain: StoreAddress?
  var secretService: Finding
  var vaultKey: KeyLocation
}
