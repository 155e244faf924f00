/// A place that keeps secrets.
///
/// ``SecretService``, ``Vault``, `Keychain` and ``InMemorySecretStore`` are the ones of this package.
/// Every call may be made from any thread. A store says `.notFound`, by nil or false, only when it
/// knows: one that is locked or cannot be reached throws.
public protocol SecretStore: Sendable {
  /// Which store this is, and why it was chosen.
  var backend: SecretBackend { get }
  /// What the store can do.
  var features: Set<SecretFeature> { get }
  /// The largest secret that it takes, in bytes.
  var sizeLimit: Int { get }

  /// Whether secrets can be read and kept now.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when the store cannot be reached.
  func state() throws(SecretError) -> SecretStoreState

  /// Asks the person to unlock the store, and waits for that; ends at once when it is open.
  ///
  /// - Throws: ``SecretError``: `.cancelled` when the person or the task cancelled it,
  ///   `.interactionRequired` when nobody can be asked, `.unavailable(.timedOut)` after the timeout,
  ///   `.unsupported(.locking)` from a store that has no lock.
  func unlock(timeout: Duration) async throws(SecretError)

  /// Locks the store, for all programs that use it.
  ///
  /// - Throws: ``SecretError``: `.unsupported(.locking)` from a store that has no lock.
  func lock() throws(SecretError)

  /// The secret of a name, or nil when there is none.
  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes?

  /// What is known of a secret without reading it, or nil when there is none.
  func item(for id: SecretID) throws(SecretError) -> SecretItem?

  /// What is known of all secrets of a service, in the order of their accounts' UTF-8.
  func items(service: String) throws(SecretError) -> [SecretItem]

  /// Keeps a secret, if the write's condition holds.
  ///
  /// Once it returns, the secret outlives the process, in stores that have `.persistence`.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not
  ///   hold, `.tooLarge` above ``sizeLimit``, `.unsupported` for a requirement that the store lacks.
  func write(_ bytes: SecretBytes, for id: SecretID, _ write: SecretWrite) throws(SecretError)

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
      code: .unsupported(.locking), message: "This store has no lock. Use it as it is.")
  }
}

/// Whether a store can be used.
public enum SecretStoreState: Hashable, Sendable, CaseIterable {
  /// It is open.
  case ready
  /// It is locked, and nothing is known of its items.
  case locked
  /// It has never been set up.
  case notInitialised
}

/// How a secret is to be written.
public struct SecretWrite: Sendable {
  /// What must hold for the write to be made.
  public enum Condition: Sendable {
    /// Nothing.
    case always
    /// There is no such item; else `.duplicateItem`.
    case ifAbsent
    /// There is such an item; else `.notFound`.
    case ifPresent
    /// The item holds this; else `.changed`, also when there is none.
    case ifHolding(SecretBytes)
  }

  /// What must hold for the write to be made.
  public var condition: Condition
  /// What a person sees; nil keeps an item's old label, and gives a new one "SERVICE: ACCOUNT".
  public var label: String?
  /// What describes the item; nil keeps an item's old attributes, and gives a new one none.
  public var attributes: [String: String]?
  /// What is asked of the store.
  public var requirements: SecretRequirements

  /// A way to write; without arguments, one that always writes and keeps what describes the item.
  public init(
    condition: Condition = .always, label: String? = nil, attributes: [String: String]? = nil,
    requirements: SecretRequirements = SecretRequirements()
  ) {
    self.condition = condition
    self.label = label
    self.attributes = attributes
    self.requirements = requirements
  }
}
