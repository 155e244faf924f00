/// A doubly linked list of nodes, from the one used last to the one used longest ago.
struct NodeQueue {
  let name: PolicyNode.Queue
  private(set) var newest = PolicyNode.none
  private(set) var oldest = PolicyNode.none
  private(set) var count = 0
  /// The sum of the nodes' costs.
  private(set) var cost = 0

  init(_ name: PolicyNode.Queue) { self.name = name }

  mutating func addNewest(_ number: Int32, in nodes: inout NodeStorage) {
    nodes[number].queue = name
    linkNewest(number, in: &nodes)
    count += 1
    cost += nodes[number].cost
  }

  mutating func remove(_ number: Int32, in nodes: inout NodeStorage) {
    unlink(number, in: &nodes)
    nodes[number].queue = .none
    count -= 1
    cost -= nodes[number].cost
  }

  mutating func moveToNewest(_ number: Int32, in nodes: inout NodeStorage) {
    guard number != newest else { return }
    unlink(number, in: &nodes)
    linkNewest(number, in: &nodes)
  }

  mutating func setCost(_ cost: Int, of number: Int32, in nodes: inout NodeStorage) {
    self.cost += cost - nodes[number].cost
    nodes[number].cost = cost
  }

  private mutating func linkNewest(_ number: Int32, in nodes: inout NodeStorage) {
    nodes[number].newer = PolicyNode.none
    nodes[number].older = newest
    if newest == PolicyNode.none { oldest = number } else { nodes[newest].newer = number }
    newest = number
  }

  private mutating func unlink(_ number: Int32, in nodes: inout NodeStorage) {
    let (newer, older) = (nodes[number].newer, nodes[number].older)
    if newer == PolicyNode.none { newest = older } else { nodes[newer].older = older }
    if older == PolicyNode.none { oldest = newer } else { nodes[older].newer = newer }
  }
}
