/// Decodes a `Codable` value from property list values; the inverse of ``TreeEncoder``.
struct TreeDecoder: Decoder {
  let stored: PropertyList
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ stored: PropertyList, path: [any CodingKey]) {
    self.stored = stored
    codingPath = path
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .dictionary(let fields) = stored else { throw mismatch([String: Any].self) }
    return KeyedDecodingContainer(TreeFieldsDecoder<Key>(fields: fields, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = stored else { throw mismatch([Any].self) }
    return TreeElementsDecoder(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(
      type,
      .init(codingPath: codingPath, debugDescription: "The stored value is \(stored.kindName)."))
  }
}

extension TreeDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { stored == TreeNull.stored }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let leafType = type as? any TreeLeaf.Type {
      guard leafType.isStored(as: stored),
        let value = try? leafType.init(propertyList: TreeNull.unescaped(stored)) as? Value
      else { throw mismatch(type) }
      return value
    }
    guard codingPath.count < PropertyList.maximumDepth else {
      throw PreferencesError(
        code: .doesNotDecode,
        message: "The stored value is nested deeper than \(PropertyList.maximumDepth).")
    }
    return try Value(from: self)
  }
}
