/// How a secret is to be written.
public struct SecretStoreWrite: Sendable {
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

extension SecretStoreWrite {
  /// The most bytes of UTF-8 that a label or the value of an attribute may have.
  public static let textLimit = 4096
  /// The most attributes that an item may have.
  public static let attributeLimit = 64
  /// Names that attributes may not have, since stores keep the service and the account under them.
  public static let reservedNames: Set<String> = ["service", "account", "xdg:schema"]

  func checkTexts() throws(SecretError) {
    if let label { try Self.check(label, "label") }
    guard let attributes else { return }
    guard attributes.count <= Self.attributeLimit else {
      throw SecretError(
        code: .invalidName,
        message: "An item may have \(Self.attributeLimit) attributes. Put less beside the secret.")
    }
    for (name, value) in attributes {
      try SecretID.check(name, "attribute")
      guard !Self.reservedNames.contains(name) else {
        throw SecretError(
          code: .invalidName,
          message: "The attribute name \(name) is one that stores use. Choose another name.")
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
  /// Throws unless the condition holds of what is there, nil for nothing.
  func check(_ old: SecretBytes?, for id: SecretID) throws(SecretError) {
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
