public import Foundation

extension Secrets {
  /// The secrets of a service, where they are or where they had best be.
  ///
  /// ``storeDescription`` tells which store that is, and why. The store is chosen once: the service's first
  /// write leaves a record of it under `$XDG_CONFIG_HOME/stead/secrets/`, and from then on the record
  /// decides. A store that cannot be used now is an error then, and no other one is tried, since
  /// secrets in two places are soon lost in one of them. Use ``move(to:replacing:accepting:environment:timeout:progress:)``
  /// to change the place. A record is about automatic places alone; a place that is named is used as it
  /// is.
  ///
  /// Without a record this asks the Secret Service for its state, which takes some milliseconds where
  /// there is one, and the timeout where it hangs. A vault is chosen only where there is certainly no
  /// Secret Service: no library, no address of a bus, no program that offers it, or no collection yet.
  /// Whatever else keeps it from answering is an error, since it may have secrets that a vault would hide.
  ///
  /// - Parameters:
  ///   - service: A name that no other app uses, such as `org.example.Notes`.
  ///   - location: Where the secrets are to be.
  ///   - environment: The process's environment, or what a test wants it to be.
  ///   - timeout: How long the Secret Service may take to answer a call, and other processes to write.
  /// - Throws: ``SecretError``: `.invalidName`; `.corrupt`, `.newerVersion` or `.accessDenied` when the
  ///   record cannot be used; `.accessDenied` for the superuser with another user's home; `.failed` for
  ///   a home directory that is empty or not there; `.unavailable` where there is no record and the Secret
  ///   Service does not answer; `.notFound` where systemd gives credentials, and not the vault's, or where only a
  ///   key file would be left that is not allowed; `.notInitialized` for a vault that is gone; and what opening a
  ///   vault throws. A Secret Service that is recorded and out of reach is told by the calls that need it.
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
  /// - Parameter isReturn: Whether the secrets come from a store that only the program can open.
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
