/// Finds the nodes whose deadline has passed, in constant time for each.
///
/// A hierarchical timer wheel: the first wheel's buckets are a tick of 2^27 ns (0.13 s) wide, those
/// of each further one 64 times as wide as the previous one's; five wheels reach 4.5 years. A node
/// is in the bucket of its deadline and moves to a finer wheel when the time comes near, at most
/// four times. A deadline that is further away is in the last wheel and is put there again.
///
/// A node is found as soon as its tick is over, so up to ``resolution`` after its deadline.
///
/// Source: G. Varghese, T. Lauck, "Hashed and Hierarchical Timing Wheels", 1987.
struct ExpiryWheel: ~Copyable {
  static let noBucket: Int16 = -1
  /// The width of a tick.
  static var resolution: Duration { .nanoseconds(1 << tickBits) }

  private static let tickBits = 27
  private static let levelBits = 6
  private static let bucketCount = 1 << levelBits
  private static let levelCount = 5

  /// The first node of each bucket, level by level; nothing is allocated before the first node.
  private var buckets: [Int32] = []
  /// A bit for each non-empty bucket of a level, so that empty ticks are skipped at once.
  private var occupied: [UInt64] = []
  /// The current tick. Invariant: every node is in the bucket of its deadline as seen from here.
  private var tick: Int64 = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// Puts a node into the bucket of its deadline.
  ///
  /// - Parameter now: Where the wheel begins if it is empty.
  mutating func add(_ number: Int32, now: Int64, in nodes: inout NodeStorage) {
    if count == 0 {
      // An empty wheel keeps its old tick. It begins again at the current one, so that the next
      // look has no past ticks to go through.
      tick = now >> Self.tickBits
      if buckets.isEmpty {
        buckets = Array(repeating: PolicyNode.none, count: Self.levelCount * Self.bucketCount)
        occupied = Array(repeating: 0, count: Self.levelCount)
      }
    }
    count += 1
    link(number, in: &nodes)
  }

  /// Takes a node out of its bucket; does nothing for a node without a deadline.
  mutating func remove(_ number: Int32, in nodes: inout NodeStorage) {
    let bucket = Int(nodes[number].bucket)
    guard bucket >= 0 else { return }
    let (next, previous) = (nodes[number].next, nodes[number].previous)
    if previous == PolicyNode.none {
      buckets[bucket] = next
      if next == PolicyNode.none {
        occupied[bucket >> Self.levelBits] &= ~(1 << UInt64(bucket & (Self.bucketCount - 1)))
      }
    } else {
      nodes[previous].next = next
    }
    if next != PolicyNode.none { nodes[next].previous = previous }
    nodes[number].bucket = Self.noBucket
    count -= 1
  }

  mutating func removeAll() { self = ExpiryWheel() }

  /// A node whose deadline has passed; nil if there is none. It stays in the wheel until it is
  /// removed, so the caller must remove it before the next call.
  mutating func nextExpired(now: Int64, in nodes: inout NodeStorage) -> Int32? {
    let last = now >> Self.tickBits
    // Not the current tick, which isn't over: its nodes may have some milliseconds left.
    while count > 0, tick < last {
      if let number = expiredOfTick(in: &nodes) { return number }
      advance(to: last, in: &nodes)
    }
    return nil
  }

  /// Every node in the current bucket of the first wheel has its deadline within the tick.
  private func expiredOfTick(in nodes: inout NodeStorage) -> Int32? {
    let number = buckets[Int(tick) & (Self.bucketCount - 1)]
    return number == PolicyNode.none ? nil : number
  }

  /// Advances to the next tick that may have nodes, and cascades the buckets of the coarser wheels
  /// that begin there.
  private mutating func advance(to last: Int64, in nodes: inout NodeStorage) {
    tick = min(nextTick(), last)
    for level in 1..<Self.levelCount {
      let shift = Int64(level * Self.levelBits)
      // A coarser bucket begins only where all finer ones do, so the first that doesn't ends the
      // cascade.
      guard tick & ((1 << shift) - 1) == 0 else { return }
      spread(level * Self.bucketCount + Int(tick >> shift) & (Self.bucketCount - 1), in: &nodes)
    }
  }

  /// The next tick at which a bucket of some wheel begins that has nodes.
  private func nextTick() -> Int64 {
    var nearest = Int64.max
    for level in 0..<Self.levelCount where occupied[level] != 0 {
      // By the bits of the non-empty buckets, in constant time: a cache may be untouched for
      // months.
      let shift = Int64(level * Self.levelBits)
      let current = tick >> shift
      // Rotated so that the bucket after the current one is the lowest bit.
      let start = UInt64(current + 1) & UInt64(Self.bucketCount - 1)
      let bits = occupied[level]
      let turned = bits >> start | bits << ((64 - start) & 63)
      let steps = Int64(turned.trailingZeroBitCount) + 1
      nearest = min(nearest, (current + steps) << shift)
    }
    return nearest
  }

  private mutating func spread(_ bucket: Int, in nodes: inout NodeStorage) {
    var number = buckets[bucket]
    buckets[bucket] = PolicyNode.none
    occupied[bucket >> Self.levelBits] &= ~(1 << UInt64(bucket & (Self.bucketCount - 1)))
    while number != PolicyNode.none {
      let next = nodes[number].next
      link(number, in: &nodes)
      number = next
    }
  }

  private mutating func link(_ number: Int32, in nodes: inout NodeStorage) {
    let bucket = self.bucket(for: nodes[number].deadline)
    let first = buckets[bucket]
    nodes[number].bucket = Int16(bucket)
    nodes[number].next = first
    nodes[number].previous = PolicyNode.none
    if first != PolicyNode.none { nodes[first].previous = number }
    buckets[bucket] = number
    occupied[bucket >> Self.levelBits] |= 1 << UInt64(bucket & (Self.bucketCount - 1))
  }

  private func bucket(for deadline: Int64) -> Int {
    // A deadline that has passed already belongs to the current tick, and is found when that is
    // over.
    let wanted = max(deadline >> Self.tickBits, tick)
    for level in 0..<Self.levelCount {
      let shift = Int64(level * Self.levelBits)
      if (wanted >> shift) - (tick >> shift) < Int64(Self.bucketCount) {
        return level * Self.bucketCount + Int(wanted >> shift) & (Self.bucketCount - 1)
      }
    }
    // Beyond the last wheel: in its furthest bucket, from which it is put again when that bucket
    // begins.
    let shift = Int64((Self.levelCount - 1) * Self.levelBits)
    let furthest = (tick >> shift) + Int64(Self.bucketCount - 1)
    return (Self.levelCount - 1) * Self.bucketCount + Int(furthest) & (Self.bucketCount - 1)
  }
}
