extension Secrets {
  /// Keeps a secret, in the place of the one that was there.
  ///
  /// Once it returns, the secret outlives the process, in stores that have `.persistence`.
  ///
  /// - Parameters:
  ///   - secret: A string, `Data`, `[UInt8]` or ``SecretBytes``; it may be empty. Of these only the memory of
  ///     ``SecretBytes`` is zeroed when it goes.
  ///   - account: The user or the purpose, unique within the service.
  ///   - label: What a person sees in a password manager; nil keeps the old one, and gives a new item
  ///     "SERVICE: ACCOUNT".
  ///   - attributes: Names and values to describe the item; nil keeps the old ones. They are less
  ///     protected than the secret in stores without `.encryptedAttributes`.
  ///   - requirements: What is asked of the store.
  /// - Throws: ``SecretError``: `.tooLarge` above the store's ``SecretStore/sizeLimit``, `.unsupported`
  ///   for a requirement that the store lacks, `.invalidName` for names that no store takes, `.noSpace`,
  ///   `.locked`, `.unavailable`. The old secret is still there then.
  public func set(
    _ secret: some SecretContent, for account: String, label: String? = nil,
    attributes: [String: String]? = nil, requirements: SecretRequirements = SecretRequirements()
  ) throws(SecretError) {
    try write(
      secret.secretBytes, account,
      SecretStoreWrite(label: label, attributes: attributes, requirements: requirements))
  }

  /// Keeps a secret where there is none yet.
  ///
  /// Of several threads and processes that try at once, exactly one succeeds.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem` when there is one; else as
  ///   ``set(_:for:label:attributes:requirements:)`` does, whose parameters these are.
  public func insert(
    _ secret: some SecretContent, for account: String, label: String? = nil,
    attributes: [String: String]? = nil, requirements: SecretRequirements = SecretRequirements()
  ) throws(SecretError) {
    try write(
      secret.secretBytes, account,
      SecretStoreWrite(
        condition: .ifAbsent, label: label, attributes: attributes, requirements: requirements))
  }

  /// Keeps a secret in the place of one that must be there.
  ///
  /// - Throws: ``SecretError``: `.notFound` when there is none; else as
  ///   ``set(_:for:label:attributes:requirements:)`` does, whose parameters these are.
  public func update(
    _ secret: some SecretContent, for account: String, label: String? = nil,
    attributes: [String: String]? = nil, requirements: SecretRequirements = SecretRequirements()
  ) throws(SecretError) {
    try write(
      secret.secretBytes, account,
      SecretStoreWrite(
        condition: .ifPresent, label: label, attributes: attributes, requirements: requirements))
  }

  /// Keeps a secret only if the item still holds what the caller last read.
  ///
  /// - Parameters:
  ///   - expected: What was read; to begin with nothing, call
  ///     ``insert(_:for:label:attributes:requirements:)``.
  ///   - secret: What to keep from now on.
  ///   - account: The user or the purpose, unique within the service.
  ///   - label: What a person sees; nil keeps the old one.
  ///   - attributes: Names and values to describe the item; nil keeps the old ones.
  ///   - requirements: What is asked of the store.
  /// - Throws: ``SecretError``: `.changed` when the item holds something else, or is not there; else as
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
