import Foundation

/// Which store is used, and why: decided from a record or a probe, without I/O.
struct StoreChoice: Hashable, Sendable {
  var address: StoreAddress
  /// Why, in a sentence or two for a person.
  var reason: String

  /// The choice that a record names.
  ///
  /// It is not questioned again: a keyring that is unavailable for a day must not lead to a second location
  /// for secrets.
  init(record: StoreRecord, path: String) {
    address = record.address
    let since = record.since.formatted(.iso8601.year().month().day())
    let leftover = record.leftover.map {
      " Copies may be left in \($0); move the secrets again to remove them."
    }
    reason =
      "The record \(path) names it since \(since). The reason then: \(record.reason)"
      + (leftover ?? "")
  }

  /// The choice for a service without a record.
  ///
  /// In order: the Keychain, the vault in a sandbox with the Secret portal, the Secret Service if it has a
  /// collection, the vault. A locked service is chosen, too: the user has a keyring, and expects secrets in it.
  init(probe: StoreProbe) {
    if let keychain = probe.keychain {
      self.init(address: keychain, reason: "The Keychain is this system's own store.")
      return
    }
    if probe.vaultKey == .secretPortal {
      // Before the Secret Service, which the sandbox may allow: there every app could read the secrets of all.
      self.init(address: .vault, reason: Self.vault("The program runs in a sandbox", probe))
      return
    }
    switch probe.secretService {
    case .state(.ready):
      self.init(address: .secretService, reason: "The desktop's Secret Service is unlocked.")
    case .state(.locked):
      // Not the vault: the secrets that the user expects to find may be in the locked keyring.
      self.init(
        address: .secretService,
        reason: "The desktop's Secret Service is there, and locked. Call unlock(timeout:), or name "
          + "another place for the secrets.")
    case .state(.notInitialized):
      self.init(
        address: .vault, reason: Self.vault("The Secret Service has no collection yet", probe))
    case .absent(let reason):
      self.init(address: .vault, reason: Self.vault(Self.text(reason), probe))
    }
  }

  private init(address: StoreAddress, reason: String) {
    self.address = address
    self.reason = reason
  }

  private static func vault(_ why: String, _ probe: StoreProbe) -> String {
    "\(why), so the secrets are in an encrypted file. \(probe.vaultKey?.protection ?? "")"
  }

  private static func text(_ reason: SecretError.Unavailability) -> String {
    switch reason {
    case .noLibrary: "libsecret, which leads to the Secret Service, is not installed"
    case .noBus: "There is no message bus to reach the Secret Service by"
    case .noService: "Nothing on the message bus offers the Secret Service"
    case .notOnThisSystem: "This system has no Secret Service"
    default: "The Secret Service cannot be used"
    }
  }
}

extension StoreProbe.KeyLocation {
  /// What the key protects from, and what it does not.
  fileprivate var protection: String {
    switch self {
    case .systemdCredential(let name):
      "Its key is the systemd credential \(name): who has the file alone cannot read it, and who "
        + "can read the credential can."
    case .secretPortal:
      "Its key comes from the desktop's Secret portal, which gives it to no other app."
    case .keyFile(let path):
      "Its key is in \(path). That protects copies of the vault that are taken without that file, "
        + "such as backups. It does not protect from programs that can read your files."
    }
  }
}

// MARK: - Probe

/// What a probe of the system found: the input of ``StoreChoice/init(probe:)``.
struct StoreProbe: Hashable, Sendable {
  /// The Secret Service's answer.
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

// MARK: - Address

/// The address of a store in a record, by which the store can be found again.
struct StoreAddress: Codable, Hashable, Sendable {
  /// The names are those of the record's file.
  enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
    case secretService = "secret-service"
    case vault
    case keychain
    /// A store that only its app can open again, such as a vault with a passphrase.
    case elsewhere
  }

  var kind: Kind
  /// The path of a vault, or the name of a collection or of a keychain; nil means the default one.
  var location: String?

  static let secretService = StoreAddress(kind: .secretService)
  static let vault = StoreAddress(kind: .vault)
  static let keychain = StoreAddress(kind: .keychain)
}

extension StoreAddress: CustomStringConvertible {
  /// The store's name for a person.
  var description: String {
    switch kind {
    case .secretService:
      location.map { "the collection \($0) of the Secret Service" } ?? "the Secret Service"
    case .vault: location.map { "the vault \($0)" } ?? "the vault"
    case .keychain: "the Keychain"
    case .elsewhere: location ?? "a store that the app itself opens"
    }
  }
}
