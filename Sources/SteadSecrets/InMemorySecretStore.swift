import Foundation
import SteadFiles

/// Secrets in the memory of the process, which end with it.
///
/// ```swift
/// let secrets = try Secrets(service: "org.example.Notes", store: InMemorySecretStore())
/// ```
///
/// It is for tests, and for what a user types and does not want to be stored. Everyone who has the object has
/// the secrets. The memory is that of ``SecretBytes``; labels and attributes are in ordinary memory. The
/// child of a fork has an independent copy.
public final class InMemorySecretStore: SecretStore {
  /// The largest secret that it accepts, 64 MiB.
  public static let sizeLimit = 64 << 20

  // Fork-safe: a thread may write while another one forks, and the child has a use for the secrets.
  private let table = ForkSafeLock(SecretTable())

  /// Makes a store without secrets.
  public init() {}

  /// The memory of this process.
  public var storeDescription: SecretStoreDescription {
    SecretStoreDescription(
      kind: .inMemory,
      reason: "The caller chose it. The secrets are in this process's memory and end with it.")
  }

  /// Labels and attributes are in memory like the secrets.
  public var features: Set<SecretStoreFeature> { [.encryptedAttributes] }
  /// The largest secret that it accepts, in bytes.
  public var sizeLimit: Int { Self.sizeLimit }

  /// The secret of a name, or nil if none exists; it is never copied.
  public func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
    table.withLock { $0.entries[id]?.bytes }
  }

  /// A secret's metadata, or nil if none exists; the secret itself isn't returned.
  public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
    table.withLock { $0.entries[id]?.item }
  }

  /// The metadata of all secrets of a service, sorted by their accounts' UTF-8.
  ///
  /// It costs a walk over all items in the store, of every service.
  public func items(service: String) throws(SecretError) -> [SecretItem] {
    table.withLock { $0.items(service: service) }
  }

  /// The metadata of the secrets of all services that have these attributes.
  public func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    table.withLock { $0.items(matching: attributes) }
  }

  /// Stores a secret, if the write's condition holds; threads that write take turns.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not
  ///   hold, `.tooLarge` above ``sizeLimit-swift.type.property``, `.unsupported` for every requirement.
  public func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    try check(bytes, write)
    try table.withLock { (table) throws(SecretError) in
      // Condition and write in one critical section. The bytes are kept and not copied.
      table.entries[id] = try table.entry(bytes, for: id, write, at: Date())
    }
  }

  /// Removes a secret, and returns whether it existed.
  @discardableResult
  public func remove(_ id: SecretID) throws(SecretError) -> Bool {
    table.withLock { $0.entries.removeValue(forKey: id) != nil }
  }

  /// Removes all secrets of a service, and returns their number.
  @discardableResult
  public func removeAll(service: String) throws(SecretError) -> Int {
    table.withLock { $0.removeAll(service: service) }
  }
}

// MARK: - Contents

/// Secrets and their metadata as a value: the logic of a store that has all of them in memory.
///
/// `PlaintextTestStore` of SteadSecretsTesting uses it, too.
package struct SecretTable: Sendable {
  package struct Entry: Sendable {
    package var bytes: SecretBytes
    package var item: SecretItem

    package init(bytes: SecretBytes, item: SecretItem) {
      (self.bytes, self.item) = (bytes, item)
    }
  }

  package var entries: [SecretID: Entry] = [:]

  package init() {}

  package func items(service: String) -> [SecretItem] {
    entries
      .filter { $0.key.service.utf8.elementsEqual(service.utf8) }
      .sorted { $0.key.account.utf8.lexicographicallyPrecedes($1.key.account.utf8) }
      .map(\.value.item)
  }

  package func items(matching attributes: [String: String]) -> [SecretItem] {
    entries.values.map(\.item).filter { $0.matches(attributes) }.sorted { $0.precedes($1) }
  }

  /// The entry that a write produces, if its condition holds.
  package func entry(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite, at now: Date
  ) throws(SecretError) -> Entry {
    let old = entries[id]
    try write.condition.check(old?.bytes, for: id)
    return Entry(
      bytes: bytes,
      item: SecretItem(
        service: id.service, account: id.account,
        label: write.label ?? old?.item.label ?? id.defaultLabel,
        attributes: write.attributes ?? old?.item.attributes ?? [:],
        created: old?.item.created ?? now, modified: now))
  }

  package mutating func removeAll(service: String) -> Int {
    let count = entries.count
    entries = entries.filter { !$0.key.service.utf8.elementsEqual(service.utf8) }
    return count - entries.count
  }
}
