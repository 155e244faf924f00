/// The dictionary that a value decodes itself from.
struct TreeFieldsDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let fields: PropertyList.Fields
  let codingPath: [any CodingKey]

  var allKeys: [Key] { fields.compactMap { Key(stringValue: $0.key) } }

  func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder(key).decode(type)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(TreeKey.parent) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: any CodingKey) throws -> TreeDecoder {
    guard let value = fields[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "Nothing is stored for the key."))
    }
    return TreeDecoder(value, path: codingPath + [key])
  }
}
