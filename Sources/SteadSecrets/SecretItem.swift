import Foundation

/// A secret's metadata, which a store returns without reading the secret.
public struct SecretItem: Hashable, Sendable {
  /// The app or the server that the secret is for.
  public var service: String
  /// The user or the purpose, unique within the service.
  public var account: String
  /// The name that a person sees in a password manager.
  public var label: String
  /// Further names and values that describe the item. They are less protected than the secret: the desktop's
  /// services keep them readable.
  public var attributes: [String: String]
  /// When the item was created; nil if the store does not record it.
  public var created: Date?
  /// When the item was last changed; nil if the store does not record it.
  public var modified: Date?

  /// Whether the item has all of these attributes; `service` and `account` count, too.
  func matches(_ wanted: [String: String]) -> Bool {
    wanted.allSatisfy { name, value in
      let found =
        switch name {
        case "service": service
        case "account": account
        default: attributes[name]
        }
      // Not `==`, which treats some strings with different bytes as equal.
      return found?.utf8.elementsEqual(value.utf8) ?? false
    }
  }

  /// Whether it precedes another in a list: by the UTF-8 of the service, then of the account.
  func precedes(_ other: SecretItem) -> Bool {
    guard service.utf8.elementsEqual(other.service.utf8) else {
      return service.utf8.lexicographicallyPrecedes(other.service.utf8)
    }
    return account.utf8.lexicographicallyPrecedes(other.account.utf8)
  }

  /// Makes the description of an item; stores do this.
  public init(
    service: String, account: String, label: String, attributes: [String: String] = [:],
    created: Date? = nil, modified: Date? = nil
  ) {
    self.service = service
    self.account = account
    self.label = label
    self.attributes = attributes
    self.created = created
    self.modified = modified
  }
}
