public import Foundation

extension Secrets {
  /// The secrets of a service, where they are or where they had best be.
  ///
  /// ``backend`` tells which store that is, and why. The store is chosen once: the service's first
  /// write leaves a record of it under `$XDG_CONFIG_HOME/stead/secrets/`, and from then on the record
  /// decides. A store that cannot be used now is an error then, and no other one is tried, since
  /// secrets in two places are soon lost in one of them. Use ``move(to:replacing:accepting:progress:)``
  /// to change the place. A record is about automatic places alone; a place that is named is used as it
  /// is.
  ///
  /// Without a record this asks the Secret Service for its state, which takes some milliseconds where
  /// there is one, and the time limit of ``SecretService`` where it hangs.
  ///
  /// - Parameters:
  ///   - service: A name that no other app uses, such as `org.example.Notes`.
  ///   - place: Where the secrets are to be.
  ///   - environment: The process's environment, or what a test wants it to be.
  /// - Throws: ``SecretError``: `.invalidName`; `.corrupt`, `.newerVersion` or `.accessDenied` when the
  ///   record cannot be used; and what opening a vault throws. A Secret Service that is locked or out of
  ///   reach is told by the calls that need it.
  public init(
    service: String, in place: SecretPlace = .automatic,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(SecretError) {
    try SecretID.check(service, "service")
    let store = try place.open(service: service, environment: environment, isReturn: false)
    try self.init(service: service, store: store)
  }
}

extension SecretPlace {
  /// - Parameter isReturn: Whether the secrets come from a store that only the program can open.
  func open(
    service: String, environment: [String: String], isReturn: Bool
  ) throws(SecretError) -> any SecretStore {
    switch self {
    case .automatic:
      return try ChosenStore(service: service, environment: environment, isReturn: isReturn)
    case .secretService(let collection, let prompts):
      return SecretService(collection: collection, prompts: prompts, environment: environment)
    case .vault(let url, let key?):
      let files = try SecretFiles(environment: environment)
      return try Vault(at: url ?? files.vault, key: key, environment: environment)
    case .vault(let url, nil):
      let opener = try StoreOpener(environment: environment)
      return try opener.openVault(at: url ?? opener.files.vault, isNew: true)
    case .store(let store): return store
    }
  }
}
