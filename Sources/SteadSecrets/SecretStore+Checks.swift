import Foundation

extension SecretStore {
  /// Refuses what no store takes, and what this one does not, before anything is done.
  ///
  /// A store calls it at the beginning of its ``write(_:for:_:)``.
  ///
  /// - Throws: ``SecretError``: `.tooLarge`, `.unsupported` or `.invalidName`.
  public func check(_ bytes: SecretBytes, _ write: SecretWrite) throws(SecretError) {
    if let missing = write.requirements.firstMissing(in: features) {
      throw SecretError(
        code: .unsupported(missing),
        message: "This store cannot do what was required (\(missing)). Write without it, or choose "
          + "another store.")
    }
    guard bytes.count <= sizeLimit else {
      throw SecretError(
        code: .tooLarge(limit: sizeLimit),
        message: "The secret has \(bytes.count) bytes, and this store takes \(sizeLimit). Keep a "
          + "key as the secret, and what it encrypts in a file.")
    }
    try write.checkTexts()
  }
}

extension SecretWrite {
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
