import Foundation

/// Codable values as bytes: JSON, with dates as seconds since 2001, data in base64, and numbers that JSON lacks as
/// the strings `inf`, `-inf` and `nan`.
///
/// JSON since it decodes faster than a property list here, and holds a date or a number of any precision as it is.
enum ValueCoding {
  /// Nil when the value can't be encoded.
  static func encode<Value: Encodable>(_ value: Value) -> Data? {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try? encoder.encode(value)
  }

  /// Nil when the bytes are not a value of this type.
  static func decode<Value: Decodable>(_ bytes: Data) -> Value? {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try? decoder.decode(Value.self, from: bytes)
  }
}

extension DiskCache {
  /// The value that was set for a key; nil if none is valid, or if it is of another type.
  public func value<Value: Decodable>(_ type: Value.Type = Value.self, for key: String) -> Value? {
    defer { database.report() }
    return count(find(key)?.contents.flatMap { ValueCoding.decode($0) })
  }

  /// Sets the value for a key, as JSON.
  ///
  /// - Returns: Whether the value is stored. False leaves the cache as it was: for the reasons of
  ///   ``setData(_:for:timeToLive:tags:)``, and if the value can't be encoded.
  @discardableResult
  public func setValue<Value: Encodable>(
    _ value: Value, for key: String, timeToLive: Duration? = nil, tags: Set<String> = []
  ) -> Bool {
    guard let bytes = ValueCoding.encode(value) else { return false }
    return setData(bytes, for: key, timeToLive: timeToLive, tags: tags)
  }
}
