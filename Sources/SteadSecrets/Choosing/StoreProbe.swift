/// What was found on the system, for a store to be chosen.
struct StoreProbe: Hashable, Sendable {
  /// What came of asking a store for its state.
  enum Finding: Hashable, Sendable {
    case state(SecretStoreState)
    /// It is not on this system, and that is certain.
    case absent(SecretError.Unavailability)

    /// Whether secrets have to be in a vault then.
    var leadsToVault: Bool {
      switch self {
      case .state(.ready), .state(.locked): false
      case .state(.notInitialized), .absent: true
      }
    }
  }

  /// Where the key of the usual vault is, or will be.
  enum KeyLocation: Hashable, Sendable {
    case systemdCredential(name: String)
    case secretPortal
    case keyFile(path: String)
  }

  /// Which Keychain the process can use; nil where the system has none.
  var keychain: StoreAddress?
  var secretService: Finding
  /// Nil where no vault is needed.
  var vaultKey: KeyLocation?
}
