import Foundation

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

  /// Replaces a secret only if the item still has the content that the caller last read (compare and swap).
  ///
  /// Of several processes that renew a token at once, one succeeds; the others read the new token:
  ///
  /// ```swift
  /// guard let old = try secrets.bytes(for: "token") else { return }
  /// let new = try await renew(old)
  /// do throws(SecretError) {
  ///   try secrets.replace(old, with: new, for: "token")
  /// } catch {
  ///   guard error.code == .changed else { throw error }
  /// }
  /// ```
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

  /// Checks the store's limits, and writes.
  func write(
    _ bytes: SecretBytes, _ account: String, _ write: SecretStoreWrite
  ) throws(SecretError) {
    try annotatingErrors(account) { () throws(SecretError) in
      let id = try id(account)
      // Stores do it themselves. Once more here, for a store of the caller's that forgets it.
      try store.check(bytes, write)
      try store.write(bytes, for: id, write)
    }
  }
}

// MARK: - Codable values

extension Secrets {
  /// The value that ``setValue(_:for:label:attributes:requirements:)`` stored for an account, or nil if none
  /// exists.
  ///
  /// The decoder leaves copies in memory that isn't zeroed: the JSON with the whole secret, its strings and
  /// numbers, and the value itself. Store a secret that must not remain in memory as bytes.
  ///
  /// - Throws: ``SecretError``: `.notDecodable` when the secret isn't such a value in JSON; otherwise as
  ///   ``bytes(for:)`` does.
  public func value<Value: Decodable>(
    _ type: Value.Type, for account: String
  ) throws(SecretError) -> Value? {
    guard let bytes = try bytes(for: account) else { return nil }
    return try annotatingErrors(account) { () throws(SecretError) in
      try bytes.decoded(as: type)
    }
  }

  /// Stores a value as JSON, replacing any existing secret.
  ///
  /// The encoder leaves copies in memory that isn't zeroed: the value, its strings and numbers, and parts of
  /// the JSON while it was built. The finished JSON is zeroed. To insert, update or compare values, make
  /// their bytes by ``SecretBytes/init(encoding:)``.
  ///
  /// - Throws: ``SecretError``: `.notDecodable` when the value cannot be encoded; otherwise as
  ///   ``set(_:for:label:attributes:requirements:)`` does, which has the same other parameters.
  public func setValue(
    _ value: some Encodable, for account: String, label: String? = nil,
    attributes: [String: String]? = nil, requirements: SecretRequirements = SecretRequirements()
  ) throws(SecretError) {
    let bytes = try annotatingErrors(account) { () throws(SecretError) in
      try SecretBytes(encoding: value)
    }
    try set(
      bytes, for: account, label: label, attributes: attributes, requirements: requirements)
  }
}

extension SecretBytes {
  /// Encodes a value as JSON with sorted keys, so that equal values have equal bytes.
  ///
  /// What the encoder leaves in memory isn't zeroed.
  ///
  /// - Throws: ``SecretError``: `.notDecodable` when the value cannot be encoded.
  public convenience init(encoding value: some Encodable) throws(SecretError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var data: Data
    do {
      data = try encoder.encode(value)
    } catch {
      // Not the encoder's own error as the cause: its description contains the value.
      throw SecretError(
        code: .notDecodable,
        message: "A value of type \(type(of: value)) cannot be encoded as JSON. Encode it "
          + "with JSONEncoder to see why.")
    }
    self.init(data)
    data.wipe()
  }

  /// Decodes the value that ``init(encoding:)`` encoded.
  ///
  /// What the decoder leaves in memory, including the value, isn't zeroed.
  ///
  /// - Throws: ``SecretError``: `.notDecodable` when the bytes aren't such a value in JSON.
  public func decoded<Value: Decodable>(as type: Value.Type) throws(SecretError) -> Value {
    var data = withBytes { Data($0) }
    defer { data.wipe() }
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      // Not the decoder's own error as the cause: its description contains parts of the secret.
      throw SecretError(
        code: .notDecodable,
        message: "The secret isn't a value of type \(type) in JSON. Read it with data(for:) to see "
          + "what it is.")
    }
  }
}

// MARK: - Code for Apple's Keychain

// Three calls for code that wraps Apple's Keychain in such methods. With
//
//     let KeychainManager = try Secrets(service: "org.example.Notes")
//
// at the top of a program, its calls of such a wrapper compile unchanged.
extension Secrets {
  /// Stores data under a key, replacing any existing data.
  ///
  /// - Throws: ``SecretError`` as ``set(_:for:label:attributes:requirements:)`` does.
  public func save(key: String, data: Data) throws(SecretError) {
    try set(data, for: key)
  }

  /// The data of a key, which must exist.
  ///
  /// - Throws: ``SecretError``: `.notFound` when it does not exist; otherwise as ``data(for:)`` does.
  public func load(key: String) throws(SecretError) -> Data {
    guard let data = try data(for: key) else {
      throw SecretError(
        code: .notFound, message: "No data is stored under this key. Save it first.",
        service: service, account: key)
    }
    return data
  }

  /// Removes a key and its data, or does nothing if it does not exist.
  ///
  /// - Throws: ``SecretError`` as ``remove(_:)`` does.
  public func delete(key: String) throws(SecretError) {
    try remove(key)
  }
}
