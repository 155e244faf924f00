/// Makes property list values of a `Codable` value, without bytes in between.
///
/// Dates and data stay what they are, addresses and identifiers are text. What is nested deeper than
/// `PropertyList.maximumDepth` is refused.
///
/// The way through Foundation's `PropertyListEncoder` and the bytes that it makes takes 1.8 times as long
/// to set a value of 20 parts, and 4.7 times to get it: `Scripts/benchmark formats --cpu`. It would also
/// write a `URL` as a dictionary.
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
          "A value is nested more than \(PropertyList.maximumDepth) deep. Store a flatter one.")
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

/// A dictionary, an array or a single value that is being encoded.
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

  /// This node as a dictionary. A second container of the same value, as a subclass asks for, goes on
  /// with the first.
  var asFields: TreeNode {
    if case .fields = content { return self }
    content = .fields([])
    return self
  }

  /// This node as an array.
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
    content = .elements([])
    elements.append(part)
    content = .elements(elements)
  }

  var elementCount: Int {
    if case .elements(let elements) = content { elements.count } else { 0 }
  }
}

/// The keys that stand in a coding path where the value's own type has none.
enum TreeKey: CodingKey {
  case value, parent
  case index(Int)

  init?(stringValue: String) { nil }
  init?(intValue: Int) { self = .index(intValue) }

  var stringValue: String {
    switch self {
    case .value: "value"
    // What `superEncoder()` of every encoder writes to.
    case .parent: "super"
    case .index(let index): "\(index)"
    }
  }

  var intValue: Int? {
    if case .index(let index) = self { index } else { nil }
  }
}
