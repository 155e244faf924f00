import Foundation

/// Secrets and what is known of them, as a value: what a store does, without where it keeps it.
struct SecretTable: Sendable {
  struct Entry: Sendable {
    var bytes: SecretBytes
    var item: SecretItem
  }

  var entries: [SecretID: Entry] = [:]

  func items(service: String) -> [SecretItem] {
    entries
      .filter { $0.key.service.utf8.elementsEqual(service.utf8) }
      .sorted { $0.key.account.utf8.lexicographicallyPrecedes($1.key.account.utf8) }
      .map(\.value.item)
  }

  /// The entry that a write leads to, if its condition holds.
  func entry(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretWrite, at now: Date
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

  mutating func removeAll(service: String) -> Int {
    let count = entries.count
    entries = entries.filter { !$0.key.service.utf8.elementsEqual(service.utf8) }
    return count - entries.count
  }
}

extension SecretID {
  /// The label of an item that was given none.
  package var defaultLabel: String { "\(service): \(account)" }
}

extension SecretWrite.Condition {
  /// Throws unless the condition holds of what is there, nil for nothing.
  package func check(_ old: SecretBytes?, for id: SecretID) throws(SecretError) {
    switch self {
    case .always: break
    case .ifAbsent:
      guard old == nil else {
        throw SecretError(
          code: .duplicateItem,
          message: "There is a secret of this name already. Use update or set to replace it.",
          service: id.service, account: id.account)
      }
    case .ifPresent:
      guard old != nil else {
        throw SecretError(
          code: .notFound,
          message: "There is no secret of this name. Use insert or set to make it.",
          service: id.service, account: id.account)
      }
    case .ifHolding(let expected):
      guard old == expected else {
        throw SecretError(
          code: .changed,
          message: "The secret is no longer what was expected. Read it again, and decide anew.",
          service: id.service, account: id.account)
      }
    }
  }
}
