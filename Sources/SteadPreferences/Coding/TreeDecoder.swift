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

  /// Decodes a leaf by its kind, and any other type by its own `init(from:)`.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let leafType = type as? any TreeLeaf.Type {
      guard leafType.isStored(as: stored),
        let value = try? leafType.init(propertyList: TreeNull.unescaped(stored)) as? Value
      else { throw mismatch(type) }
      return value
    }
    // As in ``TreeEncoder``: each level of the stored value takes stack.
    guard codingPath.count < PropertyList.maximumDepth else {
      throw PreferencesError(
        code: .doesNotDecode,
        message: "The stored value is nested deeper than \(PropertyList.maximumDepth).")
    }
    return try Value(from: self)
  }
}

// MARK: - Containers

/// The keyed container.
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

/// The unkeyed container.
struct TreeElementsDecoder: UnkeyedDecodingContainer {
  let elements: [PropertyList]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  init(elements: [PropertyList], codingPath: [any CodingKey]) {
    self.elements = elements
    self.codingPath = codingPath
  }

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  /// Advances to the next element only when this one is nil, as the protocol requires.
  mutating func decodeNil() throws -> Bool {
    let isNil = try current(Never?.self).decodeNil()
    if isNil { currentIndex += 1 }
    return isNil
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try current(type).decode(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let container = try current(type).container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try current([Any].self).unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try current((any Decoder).self)
    currentIndex += 1
    return decoder
  }

  private func current(_ type: Any.Type) throws -> TreeDecoder {
    let path = codingPath + [TreeKey.index(currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: path, debugDescription: "The stored array has no more elements."))
    }
    return TreeDecoder(elements[currentIndex], path: path)
  }
}

// MARK: - For other targets

extension PropertyList {
  /// Decodes a value from its type's stored form, or from the tree of its `Codable` form.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode`.
  package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    if let native = type as? any PreferenceValue.Type {
      if let value = try native.init(propertyList: self) as? Value { return value }
    }
    do {
      return try decodedTree(as: type)
    } catch let error as PreferencesError {
      throw error
    } catch {
      throw PreferencesError.doesNotDecode(as: type, cause: error)
    }
  }

  /// Decodes a value from the tree of its `Codable` form.
  ///
  /// - Throws: what the type's `init(from:)` throws.
  package func decodedTree<Value: Decodable>(as type: Value.Type) throws -> Value {
    try TreeDecoder(self, path: []).decode(type)
  }

  /// A value's stored form: its own, or the tree of its `Codable` form; nil for nil.
  package static func encoded<Value: Encodable>(_ value: Value) throws -> PropertyList? {
    if let native = value as? any PreferenceValue { return try native.propertyList() }
    return try encodedTree(value)
  }

  /// The tree of a value's `Codable` form; nil for nil.
  ///
  /// - Throws: ``PreferencesError`` `.notAPropertyList`.
  static func encodedTree<Value: Encodable>(_ value: Value) throws -> PropertyList? {
    do {
      return try TreeEncoder.tree(of: value)
    } catch let error as PreferencesError {
      throw error
    } catch {
      throw PreferencesError.doesNotEncode(Value.self, cause: error)
    }
  }
}
