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

  /// This node as a dictionary. A second container of the same value, as a subclass requests one, extends the first.
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
