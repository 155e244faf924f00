/// How to write a secret.
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

  func checkTexts() throws(SecretError) {
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
