import Foundation

extension Secrets {
  /// The value that ``setValue(_:for:label:attributes:requirements:)`` stored for an account, or nil if none exists.
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
    return try naming(account) { () throws(SecretError) in try bytes.decoded(as: type) }
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
    let bytes = try naming(account) { () throws(SecretError) in try SecretBytes(encoding: value) }
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
      // The encoder's own error would reveal the value.
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
      // The decoder's own error would reveal parts of the secret.
      throw SecretError(
        code: .notDecodable,
        message: "The secret isn't a value of type \(type) in JSON. Read it with data(for:) to see "
          + "what it is.")
    }
  }
}
