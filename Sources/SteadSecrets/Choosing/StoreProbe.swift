/// What was found on the system, for choosing a store.
struct StoreProbe: Hashable, Sendable {
  /// The result of asking a store for its state.
  enum Finding: Hashable, Sendable {
    case state(SecretStoreState)
    /// It is certainly not on this system.
    case absent(SecretError.Unavailability)

    /// Whether secrets have to be in a vault in this case.
    var leadsToVault: Bool {
      switch self {
      case .state(.ready), .state(.locked): false
      case .state(.notInitialized), .absent: true
      }
    }
  }

  /// Where the key of the default vault is, or will be.
  enum KeyLocation: Hashable, Sendable {
    case systemdCredential(name: String)
    case secretPortal
    case keyFile(path: String)
  }

  /// Which Keychain the process can use; nil if the system has none.
  var keychain: StoreAddress?
  var secretService: Finding
  /// Nil if no vault is needed.
  var vaultKey: KeyLocation?
}
