public import Foundation
import SteadFiles

/// Where to store the secrets of a service.
public enum SecretStoreLocation: Sendable {
  /// The recorded location of the service's secrets; without a record, the best that the system has.
  ///
  /// That is the Keychain on Apple's systems, otherwise the desktop's Secret Service, or, if that is missing
  /// or has never been set up, the service's default vault. In a sandbox whose desktop has the Secret portal
  /// (Flatpak, Snap), it is the vault, opened by the portal's secret. The first write makes the record.
  ///
  /// A key file next to its vault protects neither from programs of the same user nor from anyone who has the
  /// whole disk. If `allowsKeyFile` is false, none is created or used: without a better location, calls throw
  /// `.notFound`.
  case automatic(allowsKeyFile: Bool)
  /// The desktop's Secret Service.
  case secretService(
    SecretService.Collection = .default, prompts: SecretService.PromptPolicy = .never)
  /// A vault. Without a URL it is `$XDG_DATA_HOME/stead/secrets/SERVICE.vault`. Without a key it is opened by
  /// the systemd credential `stead-vault-key`, if the process has one, by the Secret portal in a sandbox, or
  /// by the key file `$XDG_CONFIG_HOME/stead/secrets.key`. With `.openOrCreate` the first write creates a
  /// missing vault; reads find nothing until then.
  case vault(at: URL? = nil, key: VaultKey? = nil, opening: Vault.Opening = .openOrCreate)
  /// A store that the caller has made.
  case store(any SecretStore)

  /// The recorded location, or the best that the system has; a key file is allowed.
  public static var automatic: SecretStoreLocation { .automatic(allowsKeyFile: true) }
}

// MARK: - Opening

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
  /// Opens the store at the location.
  ///
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
      return try NamedVault(at: url ?? opener.defaultVault, key: key, opener: opener)
    case .vault(let url, let key, let opening):
      return try opener.openVault(at: url ?? opener.defaultVault, key: key, opening)
    case .store(let store): return store
    }
  }
}

// MARK: - Moving

extension Secrets {
  /// Moves all secrets of the service to another location, and returns them there.
  ///
  /// Each is copied with its label and attributes and read back. Then the record is updated, if this is an
  /// automatic location, and only then are they removed from the old location. The new store sets its own
  /// dates.
  ///
  /// If it throws, or the process ends, no secret is lost: each is in the old location or in the new one, and
  /// the same call again finishes the move. With automatic locations, other running processes can still read,
  /// wait with their writes, and continue at the new location; with named locations, you have to make sure
  /// that nothing is written at the old one. `.automatic` means the location that a service without secrets
  /// would get now. After a move to a store that the caller created, or to a vault with a key other than the
  /// default one, only the caller can open it, and automatic locations report that.
  ///
  /// The stores are called on the task's thread, one call after the other.
  ///
  /// - Parameters:
  ///   - location: Where to store the secrets.
  ///   - isReplacing: Whether to replace other secrets of the same names there; otherwise they are an error.
  ///   - accepted: The old store's features that the new one may lack.
  ///   - environment: The process's environment, or a test's substitute; an automatic location uses its own.
  ///   - timeout: How long the Secret Service may take to answer a call; an automatic location uses its own.
  ///   - progress: Called after each step, on the same thread. It may read secrets of automatic locations,
  ///     but must not write any: writers wait for the end of the move.
  /// - Throws: ``SecretError``: `.duplicateItem` when the new store contains another secret of a name, and
  ///   nothing was copied, or when both locations are the same store; `.unsupported` when the new store lacks
  ///   a feature that isn't accepted; `.changed` when another program changed a secret at the old location,
  ///   which is still there; `.cancelled` when the task was cancelled; and what the stores throw.
  @discardableResult
  public func move(
    to location: SecretStoreLocation, replacing isReplacing: Bool = false,
    accepting accepted: Set<SecretStoreFeature> = [],
    environment: [String: String] = ProcessInfo.processInfo.environment,
    timeout: Duration = .seconds(5),
    progress: @escaping @Sendable (SecretMoveProgress) -> Void = { _ in }
  ) async throws(SecretError) -> Secrets {
    let options = SecretMove.Options(
      isReplacing: isReplacing, accepted: accepted, progress: progress)
    // An automatic location moves by itself: it has the record, and the lock that keeps writers out.
    if let chosen = store as? ChosenStore {
      try await chosen.move(to: location, options)
      return self
    }
    let opener = try StoreOpener(service: service, environment: environment, timeout: timeout)
    // A record that says that only the program can open the store does not count: the program is moving the
    // secrets out of that store.
    let destination = try location.open(opener, isReturn: true)
    let move = options.move(service, from: store, to: destination)
    try annotatingErrors(nil) { () throws(SecretError) in
      try move.copy()
      try move.removeFromSource()
    }
    return try Secrets(service: service, store: destination)
  }
}

/// How far a move of secrets has come.
public struct SecretMoveProgress: Hashable, Sendable {
  /// The steps of a move, in order.
  public enum Step: Hashable, Sendable, CaseIterable {
    /// Secrets are written to the new store, and read back.
    case copying
    /// The new store is in use from now on.
    case recorded
    /// Secrets are removed from the old store.
    case removing
  }

  /// The current step.
  public var step: Step
  /// The number of secrets that the step has completed.
  public var completed: Int
  /// The total number of secrets.
  public var total: Int

  /// Makes a progress value; moves do this.
  public init(step: Step, completed: Int, total: Int) {
    self.step = step
    self.completed = completed
    self.total = total
  }
}

// MARK: - Vaults that the program names

/// A vault at a location that the program names, which the first write creates if it is missing.
///
/// Reads do not create it: a mistyped path would leave an empty vault behind, and look like one without
/// secrets from then on.
final class NamedVault: SecretStore {
  private let url: URL
  private let key: VaultKey?
  private let opener: StoreOpener
  private let vault = ForkSafeLock<Vault?>(nil)

  /// - Parameter key: The key that opens it; nil means the keys of a default vault.
  /// - Throws: ``SecretError`` when the vault exists and does not open, or existed before.
  init(at url: URL, key: VaultKey?, opener: StoreOpener) throws(SecretError) {
    (self.url, self.key, self.opener) = (url, key, opener)
    _ = try current()
  }

  /// The vault, or one without items if it was never created.
  ///
  /// A vault that existed and has disappeared is an error, not a vault without items.
  private func current() throws(SecretError) -> any SecretStore {
    if let cached = vault.withLock({ $0 }) { return cached }
    guard try opener.isVaultExpected(at: url) else {
      // Not cached: another process may create the vault at any moment, and its secrets must be
      // found then.
      return PlannedVault(path: url.path(percentEncoded: false))
    }
    return cache(try opener.openVault(at: url, key: key, .open))
  }

  /// The vault, which is created if necessary.
  private func createdIfMissing() throws(SecretError) -> Vault {
    if let cached = vault.withLock({ $0 }) { return cached }
    return cache(try opener.openVault(at: url, key: key, .openOrCreate))
  }

  /// Caches the vault. If two threads open it at once, both get the same object, and so share its snapshot.
  private func cache(_ opened: Vault) -> Vault {
    vault.withLock { vault in
      let kept = vault ?? opened
      vault = kept
      return kept
    }
  }

  private var cached: any SecretStore {
    vault.withLock { $0 } ?? PlannedVault(path: url.path(percentEncoded: false))
  }
}

extension NamedVault {
  var storeDescription: SecretStoreDescription { cached.storeDescription }
  var features: Set<SecretStoreFeature> { cached.features }
  var sizeLimit: Int { cached.sizeLimit }

  func state() throws(SecretError) -> SecretStoreState { try current().state() }

  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? { try current().bytes(for: id) }

  func item(for id: SecretID) throws(SecretError) -> SecretItem? { try current().item(for: id) }

  func items(service: String) throws(SecretError) -> [SecretItem] {
    try current().items(service: service)
  }

  func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    try current().items(matching: attributes)
  }

  func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    // A secret that no vault accepts does not create one.
    try check(bytes, write)
    try createdIfMissing().write(bytes, for: id, write)
  }

  func remove(_ id: SecretID) throws(SecretError) -> Bool { try current().remove(id) }

  func removeAll(service: String) throws(SecretError) -> Int {
    try current().removeAll(service: service)
  }
}

// MARK: - Not created yet

/// A vault that has not been created yet, which certainly has no items.
///
/// It stands in for the vault, so that a process that only reads creates no file.
struct PlannedVault: SecretStore {
  let path: String

  var storeDescription: SecretStoreDescription {
    SecretStoreDescription(kind: .vault, location: path, reason: "The caller named the vault.")
  }
  var features: Set<SecretStoreFeature> { [.encryptedAttributes, .persistence] }
  var sizeLimit: Int { Vault.sizeLimit }

  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? { nil }
  func item(for id: SecretID) throws(SecretError) -> SecretItem? { nil }
  func items(service: String) throws(SecretError) -> [SecretItem] { [] }
  func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] { [] }
  func remove(_ id: SecretID) throws(SecretError) -> Bool { false }
  func removeAll(service: String) throws(SecretError) -> Int { 0 }

  func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    throw SecretError(
      code: .notInitialized,
      message: "The vault \(path) has not been created. Write a secret to create it.")
  }
}
