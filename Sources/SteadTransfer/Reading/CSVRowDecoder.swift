import Foundation
import SteadFormats
import SteadPreferences

/// Decodes the fields of one row by the names of their columns.
///
/// An empty field is nil if the property is optional, and an empty string if it is a string.
struct CSVRowDecoder: Decoder {
  /// The places of the columns' fields.
  let columns: [String: Int]
  let fields: [String]
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(CSVFieldsDecoder<Key>(columns: columns, fields: fields))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw mismatch([String].self, at: [])
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw mismatch(String.self, at: [])
  }
}

private func mismatch(_ type: Any.Type, at path: [any CodingKey]) -> DecodingError {
  .typeMismatch(
    type, .init(codingPath: path, debugDescription: "A row is decoded by the names of its columns.")
  )
}

private struct CSVFieldsDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let columns: [String: Int]
  let fields: [String]
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { columns.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { columns[key.stringValue] != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try field(key).decodeNil() }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try field(key).decode(type)
  }
  func superDecoder() throws -> any Decoder { throw mismatch(Any.self, at: []) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    throw mismatch([String: Any].self, at: [key])
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw mismatch([Any].self, at: [key])
  }

  private func field(_ key: Key) throws -> CSVFieldDecoder {
    guard let place = columns[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: [], debugDescription: "No column has that name."))
    }
    return CSVFieldDecoder(text: fields[place], codingPath: [key])
  }
}

/// One field, as a number, a date, an enum by its raw value, or what else reads from a text.
private struct CSVFieldDecoder: Decoder, SingleValueDecodingContainer {
  let text: String
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func decodeNil() -> Bool { text.isEmpty }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if type == Data.self {
      guard let data = Data(base64Encoded: text) as? Value else { throw corrupt(type) }
      return data
    }
    if type == Date.self {
      guard let date = date as? Value else { throw corrupt(type) }
      return date
    }
    guard let native = type as? any PreferenceValue.Type else { return try Value(from: self) }
    guard let value = try? native.init(propertyList: .string(text)) as? Value else {
      throw corrupt(type)
    }
    return value
  }

  func container<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> { throw mismatch(type, at: codingPath) }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw mismatch([Any].self, at: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private var date: Date? {
    guard let seconds = Double(text), seconds.isFinite else { return ISO8601Date.date(text) }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  private func corrupt(_ type: Any.Type) -> DecodingError {
    .dataCorrupted(
      .init(codingPath: codingPath, debugDescription: "The field does not read as \(type)."))
  }
}
