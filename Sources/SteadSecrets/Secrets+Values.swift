import Foundation

extension Secrets {
  /// An account's secret as a value that was kept by
  /// ``setValue(_:for:label:attributes:requirements:)``, or nil when there is none.
  ///
  /// What passes through the decoder stays in memory that is not zeroed: the JSON, which holds the whole secret,
  /// the strings and numbers in it, and the value itself. Keep what must not stay as bytes.
  ///
  /// - Throws: ``SecretError``: `.notDecodable` when the secret is not such a value in JSON; else as
  ///   ``bytes(for:)`` does.
  public func value<Value: Decodable>(
    _ type: Value.Type, for account: String
  ) throws(SecretError) -> Value? {
    guard let bytes = try bytes(for: account) else { return nil }
    return try naming(account) { () throws(SecretError) in try bytes.decoded(as: type) }
  }

  /// Keeps a value as JSON, in the place of the secret that was there.
  ///
  /// What passes through the encoder stays in memory that is not zeroed: the value, its strings and numbers, and
  /// parts of the JSON from while it was made. The finished JSON is zeroed. To insert, update or compare values, make their
  /// bytes by ``SecretBytes/init(encoding:)``.
  ///
  /// - Throws: ``SecretError``: `.notDecodable` when the value cannot be encoded; else as
  ///   ``set(_:for:label:attributes:requirements:)`` does, whose parameters the others are.
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
  /// A value as JSON, with the keys in order, so that equal values have equal bytes.
  ///
  /// What the encoder leaves in memory is not zeroed.
  ///
  /// - Throws: ``SecretError``: `.notDecodable` when the value cannot be encoded.
  public convenience init(encoding value: some Encodable) throws(SecretError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var data: Data
    do {
      data = try encoder.encode(value)
    } catch {
      // The encoder's own error would show the value.
      throw SecretError(
        code: .notDecodable,
        message: "A value of type \(type(of: value)) cannot be written as JSON. Try to encode it "
          + "by JSONEncoder to see why.")
    }
    self.init(data)
    data.wipe()
  }

  /// The value that ``init(encoding:)`` made the bytes of.
  ///
  /// What the decoder leaves in memory, the value among it, is not zeroed.
  ///
  /// - Throws: ``SecretError``: `.notDecodable` when the bytes are not such a value in JSON.
  public func decoded<Value: Decodable>(as type: Value.Type) throws(SecretError) -> Value {
    var data = withBytes { Data($0) }
    defer { data.wipe() }
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      // The decoder's own error would show parts of the secret.
      throw SecretError(
        code: .notDecodable,
        message: "The secret is not a value of type \(type) in JSON. Read it by data(for:) to see "
          + "what it is.")
    }
  }
}
