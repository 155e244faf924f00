import Foundation
import SteadFormats

/// Converts values between Codable types by JSON: to another type, or to a copy that shares no object with the
/// original.
///
/// Each conversion encodes and decodes the value once, so callers use a value that has the right
/// type as it is.
enum SnapshotCoding {
  /// The encoder. Infinities and NaN, which JSON lacks, become strings.
  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = JSONFloat.encoding
    return encoder
  }

  /// The decoder of what ``encoder`` writes.
  static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = JSONFloat.decoding
    return decoder
  }

  /// The key of a decoder's schema.
  private static let schemaKey = CodingUserInfoKey(rawValue: "SteadRecords.Schema")

  /// A decoder of snapshots whose properties are those of a schema's classes.
  static func decoder(for schema: Schema) -> JSONDecoder {
    let decoder = decoder
    if let schemaKey { decoder.userInfo[schemaKey] = schema }
    return decoder
  }

  /// The class of a name in the schema of a decoder; without one, in the schema that was made last.
  static func model(named name: String, _ decoder: any Decoder) -> (any PersistentModel.Type)? {
    let schema = schemaKey.flatMap { decoder.userInfo[$0] as? Schema }
    return model(named: name, in: schema)
  }

  /// The class of a name in a schema; nil if there is none.
  static func model(named name: String, in schema: Schema?) -> (any PersistentModel.Type)? {
    schema?.model(named: name) ?? ModelMetadata.model(named: name)
  }

  /// A value as another type; nil if the type is not Decodable.
  static func convert<V>(_ value: any Encodable, to type: V.Type) throws -> V? {
    // Opened at run time, since a property's type is known to its slot alone.
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

  /// A struct as JSON, with the fields that it lacks taken from another one. Nil if the value is no struct, or lacks
  /// nothing that the other has.
  static func completed(
    _ value: any Encodable, as type: any Any.Type, from fields: JSONValue
  ) throws -> Data? {
    guard let wrapped = PropertyShape(type).wrapped as? any Decodable.Type else { return nil }
    return ValueReader.completed(try json(of: value), as: wrapped, from: fields, decoder)
  }

  /// A value decoded from JSON; nil if the type is not Decodable.
  static func decoded<V>(_ data: Data, as type: V.Type) throws -> V? {
    guard let wrapped = PropertyShape(type).wrapped as? any Decodable.Type else { return nil }
    func decode<T: Decodable>(_ type: T.Type) throws -> V? {
      try decoder.decode(type, from: data) as? V
    }
    return try decode(wrapped)
  }
}

// MARK: - Values of unknown types

/// A decoded value whose type is not known. It is encoded as it was.
///
/// It lets a store read an object of which a property has changed its type, and write the object
/// back without a loss.
enum SnapshotTree: Codable {
  case null
  case flag(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case real(Double)
  /// A number with more digits than a `Double` has.
  case decimal(Decimal)
  case text(String)
  case list([SnapshotTree])
  case fields([String: SnapshotTree])

  /// Decodes a value as the first kind that fits. Integers come before floating-point numbers, so that large ones
  /// keep all digits.
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(UInt64.self) {
      self = .unsigned(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let number = try? container.decode(Double.self) {
      // A `Double` that prints as the same digits holds the number completely. Otherwise digits
      // would be lost.
      let exact = try? container.decode(Decimal.self)
      self =
        if let exact, exact != Decimal(string: "\(number)") { .decimal(exact) } else {
          .real(number)
        }
    } else if let list = try? container.decode([SnapshotTree].self) {
      self = .list(list)
    } else {
      self = .fields(try container.decode([String: SnapshotTree].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .flag(let flag): try container.encode(flag)
    case .integer(let number): try container.encode(number)
    case .unsigned(let number): try container.encode(number)
    case .real(let number): try container.encode(number)
    case .decimal(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .fields(let fields): try container.encode(fields)
    }
  }
}
