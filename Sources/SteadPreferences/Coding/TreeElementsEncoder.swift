/// The array that a value encodes itself into.
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
