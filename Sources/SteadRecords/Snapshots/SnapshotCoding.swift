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
    func decoded<T: Decodable>(_ type: T.Type, _ data: Data) throws -> V? {
      try decoder.decode([T].self, from: data).first as? V
    }
    return try decoded(type, list(of: value))
  }

  // In an array, since not every version of Foundation encodes a single value.
  private static func list<T: Encodable>(of value: T) throws -> Data { try encoder.encode([value]) }

  /// A value as JSON.
  static func json(of value: any Encodable) throws -> Data {
    Data(try list(of: value).dropFirst().dropLast())
  }

  /// A value with the fields that it lacks, from a default value; nil if it is not a struct's that lacks fields which
  /// that one has.
  static func completed<V>(
    _ value: any Encodable, as type: V.Type, from defaultValue: Any
  ) throws -> V? {
    guard let wrapped = PropertyShape(type).wrapped as? any Decodable.Type,
      let whole = ValueReader.completed(
        try json(of: value), as: wrapped, from: defaultValue, decoder)
    else { return nil }
    func decoded<T: Decodable>(_ type: T.Type) throws -> V? {
      try decoder.decode(type, from: whole) as? V
    }
    return try decoded(wrapped)
  }
}
