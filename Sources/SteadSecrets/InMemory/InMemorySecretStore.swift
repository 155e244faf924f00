import Foundation
import SteadFiles

/// Secrets in the memory of the process, which go with it.
///
/// It is for what a user types in and does not want to be kept, and for tests. Everyone who has the
/// object has the secrets. The memory is that of ``SecretBytes``; the labels and attributes are in
/// ordinary memory. The child of a fork has a copy, and goes on with it by itself.
public final class InMemorySecretStore: SecretStore {
  /// The largest secret that it takes, 64 MiB.
  public static let sizeLimit = 64 << 20

  private let table = ForkSafeLock(SecretTable())

  /// A store without secrets.
  public init() {}

  /// The memory of this process.
  public var storeDescription: SecretStoreDescription {
    SecretStoreDescription(
      kind: .inMemory,
      reason: "The caller chose it. The secrets are in this process's memory and go with it.")
  }

  /// Labels and attributes are where the secrets are.
  public var features: Set<SecretStoreFeature> { [.encryptedAttributes] }
  /// The largest secret that it takes, in bytes.
  public var sizeLimit: Int { Self.sizeLimit }

  /// The secret of a name, or nil when there is none; it is never copied.
  public func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
    table.withLock { $0.entries[id]?.bytes }
  }

  /// What is known of a secret without reading it, or nil when there is none.
  public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
    table.withLock { $0.entries[id]?.item }
  }

  /// What is known of all secrets of a service, in the order of their accounts' UTF-8.
  ///
  /// It costs a walk over all that the store holds, of every service.
  public func items(service: String) throws(SecretError) -> [SecretItem] {
    table.withLock { $0.items(service: service) }
  }

  /// What is known of the secrets of all services that have these attributes.
  public func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    table.withLock { $0.items(matching: attributes) }
  }

  /// Keeps a secret, if the write's condition holds; threads that write take turns.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not
  ///   hold, `.tooLarge` above ``sizeLimit-swift.type.property``, `.unsupported` for every requirement.
  public func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    try check(bytes, write)
    try table.withLock { (table) throws(SecretError) in
      table.entries[id] = try table.entry(bytes, for: id, write, at: Date())
    }
  }

  /// Removes a secret, and returns whether there was one.
  @discardableResult
  public func remove(_ id: SecretID) throws(SecretError) -> Bool {
    table.withLock { $0.entries.removeValue(forKey: id) != nil }
  }

  /// Removes all secrets of a service, and returns how many there were.
  @discardableResult
  public func removeAll(service: String) throws(SecretError) -> Int {
    table.withLock { $0.removeAll(service: service) }
  }
}
