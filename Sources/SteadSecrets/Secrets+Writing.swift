extension Secrets {
  /// Stores a secret, replacing any existing one.
  ///
  /// Once it returns, the secret outlives the process, in stores that have `.persistence`.
  ///
  /// - Parameters:
  ///   - secret: A string, `Data`, `[UInt8]` or ``SecretBytes``; it may be empty. Of these only the memory of
  ///     ``SecretBytes`` is zeroed when it is released.
  ///   - account: The user or the purpose, unique within the service.
  ///   - label: The name that a person sees in a password manager; nil keeps the old one, and gives a new
  ///     item "SERVICE: ACCOUNT".
  ///   - attributes: Names and values that describe the item; nil keeps the old ones. They are less protected
  ///     than the secret in stores without `.encryptedAttributes`.
  ///   - requirements: What the write requires of the store.
  /// - Throws: ``SecretError``: `.tooLarge` above the store's ``SecretStore/sizeLimit``, `.unsupported` for a
  ///   requirement that the store lacks, `.invalidName` for names that no store accepts, `.noSpace`,
  ///   `.locked`, `.unavailable`. The old secret is unchanged then.
  public func set(
    _ secret: some SecretContent, for account: String, label: String? = nil,
    attributes: [String: String]? = nil, requirements: SecretRequirements = SecretRequirements()
  ) throws(SecretError) {
    try write(
      secret.secretBytes, account,
      SecretStoreWrite(label: label, attributes: attributes, requirements: requirements))
  }

  /// Stores a secret if none exists yet.
  ///
  /// If several threads and processes try at once, exactly one succeeds.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem` when one exists; otherwise as
  ///   ``set(_:for:label:attributes:requirements:)`` does, which has the same parameters.
  public func insert(
    _ secret: some SecretContent, for account: String, label: String? = nil,
    attributes: [String: String]? = nil, requirements: SecretRequirements = SecretRequirements()
  ) throws(SecretError) {
    try write(
      secret.secretBytes, account,
      SecretStoreWrite(
        condition: .ifAbsent, label: label, attributes: attributes, requirements: requirements))
  }

  /// Replaces an existing secret.
  ///
  /// - Throws: ``SecretError``: `.notFound` when none exists; otherwise as
  ///   ``set(_:for:label:attributes:requirements:)`` does, which has the same parameters.
  public func update(
    _ secret: some SecretContent, for account: String, label: String? = nil,
    attributes: [String: String]? = nil, requirements: SecretRequirements = SecretRequirements()
  ) throws(SecretError) {
    try write(
      secret.secretBytes, account,
      SecretStoreWrite(
        condition: .ifPresent, label: label, attributes: attributes, requirements: requirements))
  }

  /// Replaces a secret only if the item still has the content that the caller last read.
  ///
  /// - Parameters:
  ///   - expected: The secret that was read; to start without one, call
  ///     ``insert(_:for:label:attributes:requirements:)``.
  ///   - secret: The new secret.
  ///   - account: The user or the purpose, unique within the service.
  ///   - label: The name that a person sees; nil keeps the old one.
  ///   - attributes: Names and values that describe the item; nil keeps the old ones.
  ///   - requirements: What the write requires of the store.
  /// - Throws: ``SecretError``: `.changed` when the item has other content, or does not exist; otherwise as
  ///   ``set(_:for:label:attributes:requirements:)`` does.
  public func replace(
    _ expected: some SecretContent, with secret: some SecretContent, for account: String,
    label: String? = nil, attributes: [String: String]? = nil,
    requirements: SecretRequirements = SecretRequirements()
  ) throws(SecretError) {
    try write(
      secret.secretBytes, account,
      SecretStoreWrite(
        condition: .ifHolding(expected.secretBytes), label: label, attributes: attributes,
        requirements: requirements))
  }

  func write(
    _ bytes: SecretBytes, _ account: String, _ write: SecretStoreWrite
  ) throws(SecretError) {
    try naming(account) { () throws(SecretError) in
      let id = try id(account)
      try store.check(bytes, write)
      try store.write(bytes, for: id, write)
    }
  }
}
