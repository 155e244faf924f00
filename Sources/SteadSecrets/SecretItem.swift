import Foundation

/// The name of a secret: its service, and its account within the service.
///
/// Two names are equal if their UTF-8 bytes are. So `é` as one character and `e` with a combining accent are
/// two names, though `String` treats them as equal. Stores on disk and other programs compare bytes, too.
public struct SecretID: Hashable, Sendable {
  /// The maximum length of a service's or an account's name, in bytes of UTF-8.
  public static let nameLimit = 1024

  /// The app or the server that the secret is for.
  public let service: String
  /// The user or the purpose, unique within the service.
  public let account: String

  /// Makes a name after checking that every store accepts it.
  ///
  /// - Throws: ``SecretError``: `.invalidName` when a part is empty, longer than ``nameLimit``, or contains a NUL.
  public init(service: String, account: String) throws(SecretError) {
    try Self.check(service, "service")
    try Self.check(account, "account")
    self.service = service
    self.account = account
  }

  /// Makes one of this package's own names, which is known to be valid.
  init(own service: StaticString, _ account: StaticString) {
    (self.service, self.account) = ("\(service)", "\(account)")
  }

  /// Checks a part of a name, or the name of an attribute.
  ///
  /// - Parameter kind: What is checked, for the message. The name itself isn't quoted: it may be a megabyte long.
  static func check(_ name: String, _ kind: String) throws(SecretError) {
    // No NUL, since libsecret takes strings that end at one: two names would be the same item there.
    guard !name.isEmpty, name.utf8.count <= nameLimit, !name.utf8.contains(0) else {
      throw SecretError(
        code: .invalidName,
        message: "The name of \(kind == "service" ? "a" : "an") \(kind) must have 1 to "
          + "\(nameLimit) bytes and no NUL. Choose another name.")
    }
  }
}

extension SecretID {
  /// Whether two names have the same bytes.
  public static func == (one: SecretID, other: SecretID) -> Bool {
    one.service.utf8.elementsEqual(other.service.utf8)
      && one.account.utf8.elementsEqual(other.account.utf8)
  }

  /// Feeds the bytes of the names.
  public func hash(into hasher: inout Hasher) {
    for var name in [service, account] {
      name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      // A terminator, since no name contains a NUL: otherwise ("ab", "c") and ("a", "bc") would collide.
      hasher.combine(0 as UInt8)
    }
  }
}

extension SecretID {
  /// The label of an item without one.
  var defaultLabel: String { "\(service): \(account)" }
}

// MARK: - Items

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
