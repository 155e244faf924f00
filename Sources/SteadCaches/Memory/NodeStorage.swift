/// The nodes of a policy in one piece of memory, named by their numbers.
///
/// Memory grows by doubling and is given back by ``removeAll()`` alone.
struct NodeStorage: ~Copyable {
  private static let firstCapacity = 16
  /// The most nodes that there can be, since links have 32 bits.
  static let limit = Int(Int32.max)

  private var nodes: UnsafeMutablePointer<PolicyNode>
  private var capacity: Int
  /// How many nodes have ever been in use at once.
  private var usedCount = 0
  private var firstFree = PolicyNode.none

  init() {
    capacity = Self.firstCapacity
    nodes = .allocate(capacity: capacity)
  }

  // A node has nothing that needs to be deinitialized.
  deinit { nodes.deallocate() }

  subscript(number: Int32) -> PolicyNode {
    _read {
      assert(number >= 0 && number < usedCount, "no node has this number")
      yield nodes[Int(number)]
    }
    _modify {
      assert(number >= 0 && number < usedCount, "no node has this number")
      yield &nodes[Int(number)]
    }
  }

  /// Whether the number is that of a node in use. Numbers may be those of nodes that were freed since.
  func isInUse(_ number: Int32) -> Bool {
    number >= 0 && number < usedCount && self[number].queue != .none
  }

  mutating func add(_ node: PolicyNode) -> Int32 {
    if firstFree != PolicyNode.none {
      let number = firstFree
      firstFree = self[number].older
      self[number] = node
      return number
    }
    if usedCount == capacity { grow() }
    (nodes + usedCount).initialize(to: node)
    usedCount += 1
    return Int32(usedCount - 1)
  }

  mutating func free(_ number: Int32) {
    self[number] = PolicyNode()
    self[number].older = firstFree
    firstFree = number
  }

  mutating func removeAll() { self = NodeStorage() }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<PolicyNode>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: nodes, count: usedCount)
    nodes.deallocate()
    (nodes, capacity) = (larger, capacity * 2)
  }
}
