/// Encodes a `Codable` value as a tree of property list values, without bytes in between.
///
/// Dates and data are kept as such; URLs and UUIDs become strings. Values nested deeper than
/// `PropertyList.maximumDepth` are refused.
///
/// Foundation's `PropertyListEncoder` with the detour through its bytes takes 1.8 times as long to
/// set a value of 20 parts, and 4.7 times to get it (`Scripts/benchmark formats --cpu`). It would
/// also write a `URL` as a dictionary.
struct TreeEncoder: Encoder {
  let node: TreeNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The tree of a value; nil when the value is nil.
  static func tree(of value: some Encodable) throws -> PropertyList? {
    let tree = try part(of: value, path: []).tree
    // An optional that is nil encodes this. At the top it removes the key instead.
    return tree == TreeNull.stored ? nil : tree
  }

  /// Encodes a value: as a leaf if its type is one, otherwise by its own `encode(to:)`.
  static func part(of value: some Encodable, path: [any CodingKey]) throws -> TreeNode.Part {
    // Before `encode(to:)`, by which a date would become a number and data an array.
    if let leaf = value as? any TreeLeaf {
      return .leaf(TreeNull.escaped(try leaf.leaf()))
    }
    // Refused here, since a recursive value would overflow the stack before any writer could refuse
    // it.
    guard path.count < PropertyList.maximumDepth else {
      throw PreferencesError(
        code: .notAPropertyList,
        message:
          "A value is nested deeper than \(PropertyList.maximumDepth). Store a flatter one.")
    }
    let encoder = TreeEncoder(node: TreeNode(), codingPath: path)
    try value.encode(to: encoder)
    return .node(encoder.node)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(TreeFieldsEncoder<Key>(node: node.asFields, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    TreeElementsEncoder(node: node.asElements, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension TreeEncoder: SingleValueEncodingContainer {
  func encodeNil() { node.content = .part(.leaf(TreeNull.stored)) }

  func encode<Value: Encodable>(_ value: Value) throws {
    node.content = .part(try Self.part(of: value, path: codingPath + [TreeKey.value]))
  }
}

// MARK: - Containers

/// The keyed container. Each value is encoded at once, and added to the node.
struct TreeFieldsEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: TreeNode
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) { node.add(.leaf(TreeNull.stored), forKey: key.stringValue) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    node.add(
      try TreeEncoder.part(of: value, path: codingPath + [key]), forKey: key.stringValue)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    nested(key).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nested(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { nested(TreeKey.parent) }
  func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

  private func nested(_ key: any CodingKey) -> TreeEncoder {
    let child = TreeNode()
    node.add(.node(child), forKey: key.stringValue)
    return TreeEncoder(node: child, codingPath: codingPath + [key])
  }
}

/// The unkeyed container.
struct TreeElementsEncoder: UnkeyedEncodingContainer {
  let node: TreeNode
  let codingPath: [any CodingKey]

  var count: Int { node.elementCount }

  func encodeNil() { node.add(.leaf(TreeNull.stored)) }

  func encode<Value: Encodable>(_ value: Value) throws {
    node.add(try TreeEncoder.part(of: value, path: codingPath + [TreeKey.index(count)]))
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    nested().container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }

  func superEncoder() -> any Encoder { nested() }

  private func nested() -> TreeEncoder {
    let path = codingPath + [TreeKey.index(count)]
    let child = TreeNode()
    node.add(.node(child))
    return TreeEncoder(node: child, codingPath: path)
  }
}

// MARK: - The tree under construction

/// A part of the tree under construction. An object, since `Codable` may request several containers
/// of one value and fill them in any order; all of them must see each other's parts.
final class TreeNode {
  enum Part {
    case leaf(PropertyList)
    case node(TreeNode)

    var tree: PropertyList {
      switch self {
      case .leaf(let leaf): leaf
      case .node(let node): node.tree
      }
    }
  }

  enum Content {
    case part(Part)
    case fields([(key: String, part: Part)])
    case elements([Part])
  }

  /// A value that encodes nothing is an empty dictionary.
  var content = Content.fields([])

  var tree: PropertyList {
    switch content {
    case .part(let part): part.tree
    case .fields(let fields): .dictionary(.init(fields.map { .init($0.key, $0.part.tree) }))
    case .elements(let elements): .array(elements.map(\.tree))
    }
  }

  /// This node as a dictionary. A second container of the same value, as a subclass requests one,
  /// extends the first.
  var asFields: TreeNode {
    if case .fields = content { return self }
    content = .fields([])
    return self
  }

  /// This node as an array, as ``asFields`` for a dictionary.
  var asElements: TreeNode {
    if case .elements = content { return self }
    content = .elements([])
    return self
  }

  func add(_ part: Part, forKey key: String) {
    guard case .fields(var fields) = content else { return }
    // Emptied first, so that the array has one owner and grows in place.
    content = .fields([])
    fields.append((key, part))
    content = .fields(fields)
  }

  func add(_ part: Part) {
    guard case .elements(var elements) = content else { return }
    // Emptied first, as in ``add(_:forKey:)``.
    content = .elements([])
    elements.append(part)
    content = .elements(elements)
  }

  var elementCount: Int {
    if case .elements(let elements) = content { elements.count } else { 0 }
  }
}

// MARK: - Decoding

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
