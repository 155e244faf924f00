import Foundation
import SteadFormats

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

  private static let schemaKey = CodingUserInfoKey(rawValue: "SteadRecords.Schema")

  /// A decoder of snapshots whose properties are those of a schema's classes.
  static func decoder(for schema: Schema) -> JSONDecoder {
    let decoder = decoder
    if let schemaKey { decoder.userInfo[schemaKey] = schema }
    return decoder
  }

  /// The class of a name in the schema of a decoder; if it has none, in the schema that was made last.
  static func model(named name: String, _ decoder: any Decoder) -> (any PersistentModel.Type)? {
    let schema = schemaKey.flatMap { decoder.userInfo[$0] as? Schema }
    return model(named: name, in: schema)
  }

  static func model(named name: String, in schema: Schema?) -> (any PersistentModel.Type)? {
    schema?.model(named: name) ?? ModelMetadata.model(named: name)
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

  /// A value as JSON, with the fields that it lacks from another one; nil if it is not a struct's that lacks fields which
  /// that one has.
  static func completed(
    _ value: any Encodable, as type: any Any.Type, from fields: JSONValue
  ) throws -> Data? {
    guard let wrapped = PropertyShape(type).wrapped as? any Decodable.Type else { return nil }
    return ValueReader.completed(try json(of: value), as: wrapped, from: fields, decoder)
  }

  /// JSON as a type's value.
  static func decoded<V>(_ data: Data, as type: V.Type) throws -> V? {
    guard let wrapped = PropertyShape(type).wrapped as? any Decodable.Type else { return nil }
    func decode<T: Decodable>(_ type: T.Type) throws -> V? {
      try decoder.decode(type, from: data) as? V
    }
    return try decode(wrapped)
  }
}
