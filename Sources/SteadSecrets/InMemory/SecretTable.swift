import Foundation

/// Secrets and their metadata, as a value: a store's logic, independent of its location.
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
