/// A place that keeps secrets.
///
/// ``SecretService``, ``Vault``, `Keychain` and ``InMemorySecretStore`` are the ones of this package.
/// Every call may be made from any thread. A store says `.notFound`, by nil or false, only when it
/// knows: one that is locked or cannot be reached throws.
public protocol SecretStore: Sendable {
  /// Which store this is, and why it was chosen.
  var storeDescription: SecretStoreDescription { get }
  /// What the store can do.
  var features: Set<SecretStoreFeature> { get }
  /// The largest secret that it takes, in bytes.
  var sizeLimit: Int { get }

  /// Whether secrets can be read and kept now.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when the store cannot be reached.
  func state() throws(SecretError) -> SecretStoreState

  /// Asks the person to unlock the store, and waits for that; ends at once when it is open.
  ///
  /// - Throws: ``SecretError``: `.cancelled` when the person or the task cancelled it,
  ///   `.interactionRequired` when nobody can be asked, `.unavailable` after the timeout,
  ///   `.unsupported` from a store that has no lock.
  func unlock(timeout: Duration) async throws(SecretError)

  /// Locks the store, for all programs that use it.
  ///
  /// - Throws: ``SecretError``: `.unsupported` from a store that has no lock.
  func lock() throws(SecretError)

  /// The secret of a name, or nil when there is none.
  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes?

  /// What is known of a secret without reading it, or nil when there is none.
  func item(for id: SecretID) throws(SecretError) -> SecretItem?

  /// What is known of all secrets of a service, in the order of their accounts' UTF-8.
  func items(service: String) throws(SecretError) -> [SecretItem]

  /// What is known of all secrets, of every service, that have these attributes; in the order of their
  /// services' and accounts' UTF-8.
  ///
  /// `service` and `account` count as attributes, too. Without attributes these are all that the store has, as
  /// far as they have a service and an account.
  func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem]

  /// Keeps a secret, if the write's condition holds.
  ///
  /// Once it returns, the secret outlives the process, in stores that have `.persistence`.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not
  ///   hold, `.tooLarge` above ``sizeLimit``, `.unsupported` for a requirement that the store lacks.
  func write(_ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite) throws(SecretError)

  /// Removes a secret, and returns whether there was one.
  @discardableResult
  func remove(_ id: SecretID) throws(SecretError) -> Bool

  /// Removes all secrets of a service, and returns how many there were.
  @discardableResult
  func removeAll(service: String) throws(SecretError) -> Int
}

extension SecretStore {
  /// A store is ready unless it says something else.
  public func state() throws(SecretError) -> SecretStoreState { .ready }

  /// A store has no lock unless it says something else.
  public func unlock(timeout: Duration) async throws(SecretError) { throw noLock }

  /// A store has no lock unless it says something else.
  public func lock() throws(SecretError) { throw noLock }

  private var noLock: SecretError {
    SecretError(
      code: .unsupported, message: "This store has no lock. Use it as it is.", feature: .locking)
  }
}

extension SecretStore {
  /// The services that have a secret in the store, in the order of their UTF-8.
  ///
  /// It costs what a list of all items does. Each usual vault has one service.
  ///
  /// - Throws: ``SecretError`` as ``items(matching:)`` does.
  public func services() throws(SecretError) -> [String] {
    var services: [String] = []
    for item in try items(matching: [:])
    where services.last.map({ $0.utf8.elementsEqual(item.service.utf8) }) != true {
      services.append(item.service)
    }
    return services
  }
}

extension SecretStore {
  /// Refuses what no store takes, and what this one does not, before anything is done.
  ///
  /// A store calls it at the beginning of its ``write(_:for:_:)``.
  ///
  /// - Throws: ``SecretError``: `.tooLarge`, `.unsupported` or `.invalidName`.
  public func check(_ bytes: SecretBytes, _ write: SecretStoreWrite) throws(SecretError) {
    if let missing = write.requirements.firstMissing(in: features) {
      throw SecretError(
        code: .unsupported,
        message: "This store cannot do what was required (\(missing)). Write without it, or choose "
          + "another store.", feature: missing)
    }
    guard bytes.count <= sizeLimit else {
      throw SecretError(
        code: .tooLarge,
        message: "The secret has \(bytes.count) bytes, and this store takes \(sizeLimit). Keep a "
          + "key as the secret, and what it encrypts in a file.")
    }
    try write.checkTexts()
  }
}
