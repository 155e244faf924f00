public import Foundation

extension Secrets {
  /// The secrets of a service at their recorded location, or at the best one available.
  ///
  /// ``storeDescription`` tells which store that is, and why. The store is chosen once: the service's first
  /// write leaves a record of it under `$XDG_CONFIG_HOME/stead/secrets/`, and from then on the record
  /// decides. If that store cannot be used, it is an error, and no other one is tried, since secrets in two
  /// locations are soon lost in one of them. Use
  /// ``move(to:replacing:accepting:environment:timeout:progress:)`` to change the location. Records are only
  /// for automatic locations; a named location is used as given.
  ///
  /// Without a record this asks the Secret Service for its state, which takes some milliseconds if it is
  /// running, and the timeout if it hangs. A vault is chosen only if a Secret Service is certainly missing:
  /// no library, no address of a bus, no program that offers it, or no collection yet. Any other reason why
  /// it does not answer is an error, since it may have secrets that a vault would hide.
  ///
  /// - Parameters:
  ///   - service: A name that no other app uses, such as `org.example.Notes`.
  ///   - location: Where to store the secrets.
  ///   - environment: The process's environment, or a test's substitute.
  ///   - timeout: How long the Secret Service may take to answer a call, and other processes to write.
  /// - Throws: ``SecretError``: `.invalidName`; `.corrupt`, `.newerVersion` or `.accessDenied` when the
  ///   record cannot be used; `.accessDenied` for the superuser with another user's home; `.failed` for a
  ///   home directory that is empty or missing; `.unavailable` if no record exists and the Secret Service
  ///   does not answer; `.notFound` if systemd provides credentials, but not the vault's, or if only a key
  ///   file would be left, which isn't allowed; `.notInitialized` for a vault that has disappeared; and what
  ///   opening a vault throws. If a recorded Secret Service is out of reach, the calls that need it throw.
  public init(
    service: String, in location: SecretStoreLocation = .automatic,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    timeout: Duration = .seconds(5)
  ) throws(SecretError) {
    try SecretID.check(service, "service")
    let opener = try StoreOpener(service: service, environment: environment, timeout: timeout)
    try self.init(service: service, store: location.open(opener, isReturn: false))
  }
}

extension SecretStoreLocation {
  /// - Parameter isReturn: Whether the secrets return from a store that only the program can open.
  func open(
    _ opener: StoreOpener, isReturn: Bool
  ) throws(SecretError) -> any SecretStore {
    switch self {
    case .automatic(let allowsKeyFile):
      return try ChosenStore(opener: opener.allowing(keyFile: allowsKeyFile), isReturn: isReturn)
    case .secretService(let collection, let prompts):
      return opener.secretService(collection, prompts: prompts)
    case .vault(let url, let key, .openOrCreate):
      return try NamedVault(at: url ?? opener.usualVault, key: key, opener: opener)
    case .vault(let url, let key, let opening):
      return try opener.openVault(at: url ?? opener.usualVault, key: key, opening)
    case .store(let store): return store
    }
  }
}
