/// The dictionary that a value encodes itself into.
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
