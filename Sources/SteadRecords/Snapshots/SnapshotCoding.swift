import Foundation

/// Converts a value of one Codable type to another, or to a copy that shares nothing, through JSON.
enum SnapshotCoding {
  /// Infinities and NaN, which JSON lacks, are strings.
  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return encoder
  }

  static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }

  /// nil when the type cannot be decoded.
  static func convert<V>(_ value: any Encodable, to type: V.Type) throws -> V? {
    guard let type = type as? any Decodable.Type else { return nil }
    // In an array, since not every version of Foundation encodes a single value.
    func encoded<T: Encodable>(_ value: T) throws -> Data { try encoder.encode([value]) }
    func decoded<T: Decodable>(_ type: T.Type, _ data: Data) throws -> V? {
      try decoder.decode([T].self, from: data).first as? V
    }
    return try decoded(type, encoded(value))
  }
}
