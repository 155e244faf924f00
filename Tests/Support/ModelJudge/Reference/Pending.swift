/// The changes of a context that a sync keeps.
struct Pending {
  /// What a context changed about the order of a list.
  struct Order {
    /// The order that was set, for the elements that the context knew then.
    var set: [Int] = []
    /// The elements that were appended since.
    var added: [Int] = []
  }

  var values: [Int: Set<Int>] = [:]
  var ones: Set<End> = []
  /// Whether an element belongs to a list without a to-one inverse.
  var members: [End: [Int: Bool]] = [:]
  var orders: [End: Order] = [:]
  var deleted: [Int] = []
  /// The objects that came together, in the order of their insertion.
  var batches: [[Int]] = []

  mutating func append(_ element: Int, to end: End) {
    members[end, default: [:]][element] = true
    orders[end, default: Order()].set.removeAll { $0 == element }
    orders[end, default: Order()].added.removeAll { $0 == element }
    orders[end, default: Order()].added.append(element)
  }

  mutating func remove(_ element: Int, from end: End) {
    members[end, default: [:]][element] = false
    orders[end]?.set.removeAll { $0 == element }
    orders[end]?.added.removeAll { $0 == element }
  }

  mutating func reorder(_ end: End, _ list: [Int]) { orders[end] = Order(set: list) }

  mutating func insert(_ object: Int, _ node: Node) {
    values[object] = Set(node.values.indices)
    for link in node.kind.links {
      let end = End(object: object, link: link)
      if !link.isMany { ones.insert(end) }
      for element in node.manys[link] ?? [] { append(element, to: end) }
    }
  }

  mutating func forget(_ object: Int) {
    values[object] = nil
    deleted.removeAll { $0 == object }
    for batch in batches.indices { batches[batch].removeAll { $0 == object } }
    ones = ones.filter { $0.object != object }
    members = members.filter { $0.key.object != object }
    orders = orders.filter { $0.key.object != object }
  }
}
