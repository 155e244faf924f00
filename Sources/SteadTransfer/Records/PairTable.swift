import SteadRecords

/// The new pairs of a list, each once.
struct PairTable {
  private struct Pair: Hashable {
    let owner: Int64
    let target: Int64
  }

  /// The pairs in the order in which they are inserted.
  private var pairs: [Pair] = []
  private var places: [Pair: Int] = [:]
  private var byOwner: [Int64: [Int]] = [:]
  private var byTarget: [Int64: [Int]] = [:]
  /// The places that pairs need, where the order of insertion is not theirs.
  private var ownerOrders: [Int: Int64] = [:]
  private var targetOrders: [Int: Int64] = [:]
  /// The orders that rows contain.
  private var ownerLists: [Int64: [Int64]] = [:]
  private var targetLists: [Int64: [Int64]] = [:]

  mutating func add(owner: Int64, target: Int64) {
    let pair = Pair(owner: owner, target: target)
    guard places[pair] == nil else { return }
    places[pair] = pairs.count
    byOwner[owner, default: []].append(pairs.count)
    byTarget[target, default: []].append(pairs.count)
    pairs.append(pair)
  }

  /// Notes the order in which a row's relationship has its destinations.
  mutating func note(_ destinations: [Int64], of row: Int64, isOwner: Bool) {
    if isOwner { ownerLists[row] = destinations } else { targetLists[row] = destinations }
  }

  func count(of row: Int64, isOwner: Bool) -> Int {
    (isOwner ? byOwner[row] : byTarget[row])?.count ?? 0
  }

  /// Gives places to the pairs of the rows that the order of insertion does not suit.
  mutating func settle() {
    for (owner, targets) in ownerLists {
      order(targets.compactMap { places[Pair(owner: owner, target: $0)] }, &ownerOrders)
    }
    for (target, owners) in targetLists {
      order(owners.compactMap { places[Pair(owner: $0, target: target)] }, &targetOrders)
    }
  }

  private func order(_ list: [Int], _ orders: inout [Int: Int64]) {
    if zip(list, list.dropFirst()).allSatisfy({ $0 < $1 }) { return }
    for (place, index) in list.enumerated() { orders[index] = Int64(place) }
  }

  /// All pairs, in the order in which they are inserted.
  var all: [RowPair] { pairs.indices.map(pair) }

  /// An owner's pairs, in the order in which they are inserted.
  func pairs(ofOwner owner: Int64) -> [RowPair] { (byOwner[owner] ?? []).map(pair) }

  private func pair(_ index: Int) -> RowPair {
    RowPair(
      owner: pairs[index].owner, target: pairs[index].target, ownerOrder: ownerOrders[index],
      targetOrder: targetOrders[index])
  }
}
