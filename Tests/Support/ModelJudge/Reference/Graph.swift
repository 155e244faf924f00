/// An object as the reference keeps it. It is named by the number of its creation.
public struct Node: Equatable {
  public let kind: Kind
  /// The value of the property `number`: that of the object whose values the row has.
  public var label: Int
  public var values: [Int?]
  public var ones: [Link: Int] = [:]
  public var manys: [Link: [Int]] = [:]
  /// By which of several ends the target of a link leads back.
  public var sharers: [Link: Link] = [:]

  init(_ kind: Kind, number: Int, score: Int) {
    self.kind = kind
    label = number
    values = kind.attributes.indices.map { kind.initialValue($0, score: score) }
  }

  var hasLinks: Bool { !ones.isEmpty || manys.values.contains { !$0.isEmpty } }

  mutating func clearLinks() { (ones, manys, sharers) = ([:], [:], [:]) }
}

/// One end of a relationship of one object.
struct End: Hashable {
  let object: Int
  let link: Link
}

/// Objects and the links between them.
public struct Graph: Equatable {
  public var nodes: [Int: Node] = [:]

  func one(_ object: Int, _ link: Link) -> Int? { nodes[object]?.ones[link] }

  func many(_ object: Int, _ link: Link) -> [Int] { nodes[object]?.manys[link] ?? [] }

  /// The end that leads back from the target of a link.
  func inverse(_ object: Int, _ link: Link) -> Link? {
    nodes[object]?.sharers[link] ?? link.inverse
  }

  /// Whether a to-one link leads to an end.
  func leads(_ object: Int, _ link: Link, to end: End) -> Bool {
    one(object, link) == end.object && inverse(object, link) == end.link
  }

  mutating func setOne(_ object: Int, _ link: Link, _ target: Int?, by sharer: Link? = nil) {
    nodes[object]?.ones[link] = target
    nodes[object]?.sharers[link] = target == nil || link.sharers.isEmpty ? nil : sharer
  }

  /// The objects at the other end, whichever kind the relationship is of.
  func targets(_ object: Int, _ link: Link) -> [Int] {
    link.isMany ? many(object, link) : one(object, link).map { [$0] } ?? []
  }

  mutating func setList(_ object: Int, _ link: Link, _ list: [Int]) {
    nodes[object]?.manys[link] = list.isEmpty ? nil : list
  }

  /// An object and all that its relationships reach.
  func reachable(from start: Int) -> [Int] {
    var (found, queue) = ([start], [start])
    while let object = queue.popLast() {
      for link in nodes[object]?.kind.links ?? [] {
        for target in targets(object, link) where !found.contains(target) {
          found.append(target)
          queue.append(target)
        }
      }
    }
    return found
  }

  /// What contradicts itself: a link to nothing, a link with one side, an element that comes twice.
  var problem: String? {
    for (object, node) in nodes {
      for link in node.kind.links {
        let targets = targets(object, link)
        if targets.unique != targets { return "o\(object).\(link) has an object twice" }
        for target in targets {
          if nodes[target] == nil { return "o\(object).\(link) leads to nothing" }
          if let inverse = inverse(object, link), !self.targets(target, inverse).contains(object) {
            return "o\(object).\(link) has o\(target), which doesn't lead back"
          }
          if let inverse = link.inverse, !inverse.sharers.isEmpty,
            !leads(target, inverse, to: End(object: object, link: link))
          {
            return "o\(object).\(link) has o\(target), which is in another list"
          }
        }
      }
    }
    return nil
  }

  /// The objects of a class in the order of their creation.
  func all(_ kind: Kind) -> [Int] { nodes.filter { $0.value.kind == kind }.keys.sorted() }
}

/// The specification doesn't say what happens here, so the sequence ends without a verdict.
struct Unspecified: Error {
  let reason: String
}
