import Foundation
import SteadFormats

/// The values of one snapshot by the names of its properties.
///
/// A snapshot type of an app is only known by its `encode(to:)`, so it is encoded into an encoder that keeps the
/// values as they are. Most are then used without being written and read again.
struct SnapshotValues {
  let identifier: PersistentIdentifier
  /// The values by name; an inner nil for an explicit nil.
  private let values: [String: (any Encodable)?]

  /// Reads a snapshot.
  ///
  /// - Throws: ``SwiftDataError`` `.unreadableValue` if it does not encode itself into one keyed container.
  init<S: DataStoreSnapshot>(_ snapshot: S) throws {
    identifier = snapshot.persistentIdentifier
    let encoder = SnapshotEncoder()
    try snapshot.encode(to: encoder)
    guard encoder.record.isUsable else {
      throw SwiftDataError(
        .unreadableValue,
        "\(S.self) does not encode itself into one keyed container. Encode each property there, under its "
          + "name.")
    }
    values = encoder.record.values
  }

  /// Whether the snapshot has a property, be it nil.
  func has(_ name: String) -> Bool { values[name] != nil }

  /// A value as a property's type; nil if there is none.
  ///
  /// A value that already has the type is used as it is. One of another type, or one that might share an object with
  /// the snapshot, is encoded and decoded.
  func value<V>(of name: String, as type: V.Type) throws -> V? {
    guard let value = values[name] ?? nil else { return nil }
    // These share no storage with the snapshot. A struct of the app's may hold a class, and is
    // copied by coding it.
    if V.self is any _AttributeValue.Type || Self.isRaw(V.self), let value = value as? V {
      return value
    }
    return try SnapshotCoding.convert(value, to: V.self)
  }

  /// A value as the snapshot has it; nil if there is none.
  func stored(_ name: String) -> (any Encodable)? { values[name] ?? nil }

  /// Whether a type is an enum or option set, whose values share nothing.
  private static func isRaw(_ type: any Any.Type) -> Bool {
    PropertyShape(type).wrapped is any RawRepresentable.Type
  }

  /// The identifiers of a relationship's destinations; empty if there are none.
  func identifiers(of name: String) throws -> [PersistentIdentifier] {
    guard let value = values[name] ?? nil else { return [] }
    if let one = value as? PersistentIdentifier { return [one] }
    // The forms that `DefaultSnapshot` encodes. A type of the app's own may have others that encode
    // to the same JSON.
    if let many = value as? [PersistentIdentifier] { return many }
    if let many = try? SnapshotCoding.convert(value, to: [PersistentIdentifier].self) {
      return many
    }
    return try SnapshotCoding.convert(value, to: PersistentIdentifier.self).map { [$0] } ?? []
  }
}

// MARK: - Taking a snapshot apart

/// An encoder that keeps the values of a snapshot by key, each with its type, instead of writing them.
///
/// A snapshot has to be one keyed container; any other form makes the record unusable.
struct SnapshotEncoder: Encoder {
  /// What was encoded. A class, since encoders and containers are copied.
  final class Record {
    /// The values by key; nil for an explicit nil.
    var values: [String: (any Encodable)?] = [:]
    /// Whether only the one keyed container was used.
    var isUsable = true
  }

  // One record for the encoder and all copies of its containers.
  let record = Record()
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed(record: record))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { Unusable(record) }

  func singleValueContainer() -> any SingleValueEncodingContainer { Unusable(record) }

  /// The container that a snapshot is encoded into.
  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let record: Record
    var codingPath: [any CodingKey] { [] }

    /// Keeps a value.
    private func add(_ value: any Encodable, _ key: Key) { record.values[key.stringValue] = value }

    func encodeNil(forKey key: Key) { record.values.updateValue(nil, forKey: key.stringValue) }
    func encode(_ value: Bool, forKey key: Key) { add(value, key) }
    func encode(_ value: String, forKey key: Key) { add(value, key) }
    func encode(_ value: Double, forKey key: Key) { add(value, key) }
    func encode(_ value: Float, forKey key: Key) { add(value, key) }
    func encode(_ value: Int, forKey key: Key) { add(value, key) }
    func encode(_ value: Int8, forKey key: Key) { add(value, key) }
    func encode(_ value: Int16, forKey key: Key) { add(value, key) }
    func encode(_ value: Int32, forKey key: Key) { add(value, key) }
    func encode(_ value: Int64, forKey key: Key) { add(value, key) }
    func encode(_ value: UInt, forKey key: Key) { add(value, key) }
    func encode(_ value: UInt8, forKey key: Key) { add(value, key) }
    func encode(_ value: UInt16, forKey key: Key) { add(value, key) }
    func encode(_ value: UInt32, forKey key: Key) { add(value, key) }
    func encode(_ value: UInt64, forKey key: Key) { add(value, key) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) {
      // The synthesized `encode(to:)` of a struct leaves nil out; one written by hand may pass it as a value.
      if let optional = value as? any OptionalValue, optional.isNil {
        encodeNil(forKey: key)
      } else {
        add(value, key)
      }
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      record.isUsable = false
      return KeyedEncodingContainer(Keyed<Nested>(record: Record()))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      Unusable(record)
    }

    func superEncoder() -> any Encoder {
      record.isUsable = false
      return SnapshotEncoder()
    }

    func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
  }

  /// Discards what is encoded into it, and marks the record as unusable.
  private struct Unusable: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let codingPath: [any CodingKey] = []
    let count = 0

    init(_ record: Record) { record.isUsable = false }

    func encodeNil() {}
    func encode<T: Encodable>(_ value: T) {}

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
      KeyedEncodingContainer(Keyed<Nested>(record: Record()))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }

    func superEncoder() -> any Encoder { SnapshotEncoder() }
  }
}

// MARK: - Coding

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
