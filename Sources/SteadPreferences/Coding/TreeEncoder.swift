/// Encodes a `Codable` value as property list values, without bytes in between.
///
/// Dates and data are kept as such, addresses and identifiers become strings. Values nested deeper than
/// `PropertyList.maximumDepth` are refused.
///
/// The detour through Foundation's `PropertyListEncoder` and its bytes takes 1.8 times as long to set a value
/// of 20 parts, and 4.7 times to get it: `Scripts/benchmark formats --cpu`. It would also write a `URL` as a
/// dictionary.
struct TreeEncoder: Encoder {
  let node: TreeNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The tree of a value; nil when the value is nil.
  static func tree(of value: some Encodable) throws -> PropertyList? {
    let tree = try part(of: value, path: []).tree
    return tree == TreeNull.stored ? nil : tree
  }

  static func part(of value: some Encodable, path: [any CodingKey]) throws -> TreeNode.Part {
    if let leaf = value as? any TreeLeaf {
      return .leaf(TreeNull.escaped(try leaf.leaf()))
    }
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
