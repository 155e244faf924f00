/// Stores secrets.
///
/// This package has ``SecretService``, ``Vault``, `Keychain` and ``InMemorySecretStore``. Apps call ``Secrets``,
/// which names the service once; the store is for searches over all services, and for stores of your own.
///
/// A store of your own has to meet these requirements:
/// - Calls may be made on any thread, several at a time.
/// - A secret is reported as missing, by nil or false, only when that is certain. A store that is locked or
///   cannot be reached throws.
/// - ``write(_:for:_:)`` calls ``check(_:_:)`` first, and checks the condition and writes as one atomic step.
/// - What a write leaves out, a label or attributes, stays as it was.
public protocol SecretStore: Sendable {
  /// Which store this is, and why it was chosen.
  var storeDescription: SecretStoreDescription { get }
  /// What the store can do.
  var features: Set<SecretStoreFeature> { get }
  /// The largest secret that it accepts, in bytes.
  var sizeLimit: Int { get }

  /// Whether secrets can be read and stored now.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when the store cannot be reached.
  func state() throws(SecretError) -> SecretStoreState

  /// Asks the person to unlock the store, and waits for that; returns immediately when it is open.
  ///
  /// - Throws: ``SecretError``: `.cancelled` when the person or the task cancelled it, `.interactionRequired`
  ///   when nobody can be asked, `.unavailable` after the timeout, `.unsupported` from a store without a
  ///   lock.
  func unlock(timeout: Duration) async throws(SecretError)

  /// Locks the store, for all programs that use it.
  ///
  /// - Throws: ``SecretError``: `.unsupported` from a store without a lock.
  func lock() throws(SecretError)

  /// The secret of a name, or nil if none exists.
  ///
  /// - Throws: ``SecretError`` when it cannot be read, such as `.locked`, `.notInitialized`, `.unavailable` or
  ///   `.corrupt`.
  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes?

  /// A secret's metadata, or nil if none exists; the secret itself isn't read.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
  func item(for id: SecretID) throws(SecretError) -> SecretItem?

  /// The metadata of all secrets of a service, sorted by their accounts' UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
  func items(service: String) throws(SecretError) -> [SecretItem]

  /// The metadata of all services' secrets that have these attributes, sorted by the UTF-8 of their services
  /// and accounts.
  ///
  /// `service` and `account` count as attributes, too. Without attributes these are all items of the store
  /// that have a service and an account.
  func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem]

  /// Stores a secret, if the write's condition holds.
  ///
  /// Once it returns, the secret outlives the process, in stores that have `.persistence`.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not
  ///   hold, `.tooLarge` above ``sizeLimit``, `.unsupported` for a requirement that the store lacks.
  func write(_ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite) throws(SecretError)

  /// Removes a secret, and returns whether it existed.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does; `.noSpace` or `.accessDenied` when the store cannot be
  ///   written.
  @discardableResult
  func remove(_ id: SecretID) throws(SecretError) -> Bool

  /// Removes all secrets of a service, and returns their number.
  ///
  /// - Throws: ``SecretError`` as ``remove(_:)`` does; some may have been removed by then.
  @discardableResult
  func removeAll(service: String) throws(SecretError) -> Int
}

extension SecretStore {
  /// By default a store is ready.
  public func state() throws(SecretError) -> SecretStoreState { .ready }

  /// By default a store has no lock.
  public func unlock(timeout: Duration) async throws(SecretError) { throw noLock }

  /// By default a store has no lock.
  public func lock() throws(SecretError) { throw noLock }

  private var noLock: SecretError {
    SecretError(
      code: .unsupported, message: "This store has no lock. Use it as it is.", feature: .locking)
  }
}

extension SecretStore {
  /// The services that have a secret in the store, sorted by their UTF-8.
  ///
  /// It costs as much as a list of all items. A default vault has one service.
  ///
  /// - Throws: ``SecretError`` as ``items(matching:)`` does.
  public func services() throws(SecretError) -> [String] {
    var services: [String] = []
    // The items are sorted by their services, so equal ones follow each other.
    for item in try items(matching: [:])
    where services.last.map({ $0.utf8.elementsEqual(item.service.utf8) }) != true {
      services.append(item.service)
    }
    return services
  }
}

extension SecretStore {
  /// Refuses what no store accepts, and what this one does not, before anything is done.
  ///
  /// A store calls it at the beginning of its ``write(_:for:_:)``.
  ///
  /// - Throws: ``SecretError``: `.tooLarge`, `.unsupported` or `.invalidName`.
  public func check(_ bytes: SecretBytes, _ write: SecretStoreWrite) throws(SecretError) {
    if let missing = write.requirements.firstMissing(in: features) {
      // Never written with less: a caller that requires a protection must not find out later that it is missing.
      throw SecretError(
        code: .unsupported,
        message: "This store lacks a required feature (\(missing)). Write without it, or choose "
          + "another store.", feature: missing)
    }
    guard bytes.count <= sizeLimit else {
      throw SecretError(
        code: .tooLarge,
        message: "The secret has \(bytes.count) bytes, and this store accepts \(sizeLimit). Keep a "
          + "key as the secret, and the data encrypted with it in a file.")
    }
    try write.checkLimits()
  }
}

// MARK: - Writes

/// How to write a secret: under which condition, with which description, and what the store must be able to do.
///
/// ```swift
/// try store.write(token, for: id, SecretStoreWrite(condition: .ifAbsent, label: "Token of the build"))
/// ```
public struct SecretStoreWrite: Sendable {
  /// A condition that must hold for the write to be made.
  public enum Condition: Sendable {
    /// No condition.
    case always
    /// The item does not exist yet; otherwise `.duplicateItem`.
    case ifAbsent
    /// The item exists; otherwise `.notFound`.
    case ifPresent
    /// The item has this content; otherwise, or if it does not exist, `.changed`.
    case ifHolding(SecretBytes)
  }

  /// The condition that must hold for the write to be made.
  public var condition: Condition
  /// The label that a person sees; nil keeps an item's old label, and gives a new one "SERVICE: ACCOUNT".
  public var label: String?
  /// The attributes that describe the item; nil keeps an item's old attributes, and gives a new one none.
  public var attributes: [String: String]?
  /// What the write requires of the store.
  public var requirements: SecretRequirements

  /// Makes a write; by default one that always writes and keeps the item's description.
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

extension SecretStoreWrite {
  /// The maximum length of a label or an attribute's value, in bytes of UTF-8.
  public static let textLimit = 4096
  /// The maximum number of attributes of an item.
  public static let attributeLimit = 64
  /// Names that attributes may not have, since stores use them for the service and the account.
  public static let reservedNames: Set<String> = ["service", "account", "xdg:schema"]

  /// Checks the lengths and names of the label and the attributes.
  func checkLimits() throws(SecretError) {
    if let label { try Self.check(label, "label") }
    guard let attributes else { return }
    guard attributes.count <= Self.attributeLimit else {
      throw SecretError(
        code: .invalidName,
        message: "An item may have \(Self.attributeLimit) attributes. Remove some of them.")
    }
    for (name, value) in attributes {
      try SecretID.check(name, "attribute")
      guard !Self.reservedNames.contains(name) else {
        throw SecretError(
          code: .invalidName,
          message: "The attribute name \(name) is reserved for stores. Choose another name.")
      }
      try Self.check(value, "value of an attribute")
    }
  }

  private static func check(_ text: String, _ kind: String) throws(SecretError) {
    guard text.utf8.count <= textLimit, !text.utf8.contains(0) else {
      throw SecretError(
        code: .invalidName,
        message: "The \(kind) must have at most \(textLimit) bytes and no NUL. Choose another.")
    }
  }
}

extension SecretStoreWrite.Condition {
  /// Throws unless the condition holds for the existing secret, nil if none.
  func check(_ old: SecretBytes?, for id: SecretID) throws(SecretError) {
    switch self {
    case .always: break
    case .ifAbsent:
      guard old == nil else {
        throw SecretError(
          code: .duplicateItem,
          message: "A secret of this name already exists. Use update or set to replace it.",
          service: id.service, account: id.account)
      }
    case .ifPresent:
      guard old != nil else {
        throw SecretError(
          code: .notFound,
          message: "No secret of this name exists. Use insert or set to create it.",
          service: id.service, account: id.account)
      }
    case .ifHolding(let expected):
      guard old == expected else {
        throw SecretError(
          code: .changed,
          message: "The secret is no longer what was expected. Read it again, then retry.",
          service: id.service, account: id.account)
      }
    }
  }
}
