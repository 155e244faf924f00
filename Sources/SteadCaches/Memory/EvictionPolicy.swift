/// Decides which entries stay: W-TinyLFU.
///
/// A new entry enters the window, a queue in order of use. Entries that the window has no room for become candidates
/// for the main part. While it has room they go there. When it has none, a candidate's frequency is compared with that of
/// the entries that would have to go for it, and the less frequent side is evicted; of two equals, the candidate. The main part has two queues in order of use: entries begin on probation,
/// are protected once they are used again, and go back when there are too many protected ones.
///
/// Reads only count (``UseCounters``). Their effect on the queues is applied when an entry reaches the end of its
/// queue: one that was used in the meantime goes to the front, or from probation to the protected ones. So queues are
/// ordered as in the clock algorithm, and a read costs next to nothing.
///
/// A value without generics, clock or lock: it knows entries by numbers, hashes, costs and deadlines.
///
/// Every call costs constant time. Growing, halving the frequencies and expiry cost it over many calls.
///
/// Source: G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", 2017.
@usableFromInline struct EvictionPolicy: ~Copyable {
  /// The most entries, and the greatest sum of their costs.
  struct Limits {
    var count = Int.max
    var cost = Int.max
  }

  /// How much of the main part may be protected.
  private static let protectedShare = 0.8
  /// How many entries change between window and main part with one new entry, after the window's share changed.
  private static let transferLimit = 16
  /// How many victims are weighed against one candidate.
  private static let contestLimit = 16
  /// How many entries may go to the front at once because they were used.
  private static let chanceLimit = 32

  var limits = Limits()
  private(set) var evictionCount = 0
  private var nodes = NodeStorage()
  private var wheel = ExpiryWheel()
  private var frequencies = FrequencyTable()
  private var climber = WindowClimber()
  private var window = NodeQueue(.window)
  private var probation = NodeQueue(.probation)
  private var protected = NodeQueue(.protected)

  private let counters: UseCounters

  init(_ counters: UseCounters) { self.counters = counters }

  @usableFromInline var count: Int { window.count + probation.count + protected.count }
  @usableFromInline var cost: Int { window.cost + probation.cost + protected.cost }
  @usableFromInline var hasDeadlines: Bool { !wheel.isEmpty }

  @usableFromInline func cost(of number: Int32) -> Int { nodes[number].cost }

  /// Why an entry cannot come in, however much room is made; nil if it can.
  @usableFromInline func refusal(cost: Int, deadline: Int64, now: Int64) -> RemovalReason? {
    if limits.count == 0 || cost > limits.cost { return .evicted }
    return deadline <= now && deadline != PolicyNode.never ? .expired : nil
  }

  /// The hash of an entry's key.
  @usableFromInline func hash(of number: Int32) -> UInt64 { nodes[number].hash }
}

// MARK: - Changes

extension EvictionPolicy {
  /// Adds an entry for which ``nextVictim(for:keeping:)`` has made room.
  @usableFromInline mutating func add(
    hash: UInt64, cost: Int, deadline: Int64, now: Int64
  ) -> Int32 {
    let number = nodes.add(PolicyNode(hash: hash, cost: cost, deadline: deadline))
    counters.add(number)
    window.addNewest(number, in: &nodes)
    if deadline != PolicyNode.never { wheel.add(number, now: now, in: &nodes) }
    if count > frequencies.capacity { growFrequencies() }
    frequencies.record(hash)
    climber.recordMiss()
    balance()
    return number
  }

  /// Makes room for the frequencies of more entries, but not for more of them than the limit allows.
  private mutating func growFrequencies() {
    let more = frequencies.capacity + frequencies.capacity / 2
    frequencies.grow(to: max(count, min(limits.count, more)))
  }

  /// Whether ``takeHits(_:)`` should be called.
  @usableFromInline var asksForHits: Bool { isFull && climber.asksForHits(entryCount: count) }

  /// - Parameter hits: How many reads have found a value, ever.
  @usableFromInline mutating func takeHits(_ hits: Int) {
    climber.takeHits(hits, entryCount: count)
  }

  /// Gives an entry the cost and the deadline of its new value.
  @usableFromInline mutating func replace(
    _ number: Int32, cost: Int, deadline: Int64, now: Int64
  ) {
    wheel.remove(number, in: &nodes)
    nodes[number].deadline = deadline
    if deadline != PolicyNode.never { wheel.add(number, now: now, in: &nodes) }
    switch nodes[number].queue {
    case .window: window.setCost(cost, of: number, in: &nodes)
    case .probation: probation.setCost(cost, of: number, in: &nodes)
    case .protected: protected.setCost(cost, of: number, in: &nodes)
    case .none: break
    }
    balance()
  }

  /// Gives an entry another deadline, since it was used.
  @usableFromInline mutating func prolong(_ number: Int32, until deadline: Int64, now: Int64) {
    wheel.remove(number, in: &nodes)
    nodes[number].deadline = deadline
    wheel.add(number, now: now, in: &nodes)
  }

  /// Records a use that isn't a read.
  @usableFromInline mutating func use(_ number: Int32) { counters.countUse(number) }

  /// - Parameter isEviction: Whether it is removed to keep a limit.
  @usableFromInline mutating func remove(_ number: Int32, isEviction: Bool) {
    if isEviction { evictionCount += 1 }
    wheel.remove(number, in: &nodes)
    switch nodes[number].queue {
    case .window: window.remove(number, in: &nodes)
    case .probation: probation.remove(number, in: &nodes)
    case .protected: protected.remove(number, in: &nodes)
    case .none: break
    }
    nodes.free(number)
  }

  /// Forgets all entries, and how often they were used.
  @usableFromInline mutating func removeAll() {
    nodes.removeAll()
    wheel.removeAll()
    frequencies.removeAll()
    climber = WindowClimber()
    window = NodeQueue(.window)
    probation = NodeQueue(.probation)
    protected = NodeQueue(.protected)
  }

  @usableFromInline mutating func resetEvictionCount() { evictionCount = 0 }

  /// An entry whose time has been over for some time; nil if there is none.
  @usableFromInline mutating func nextExpired(now: Int64) -> Int32? {
    wheel.nextExpired(now: now, in: &nodes)
  }
}

// MARK: - Room

extension EvictionPolicy {
  /// What an entry needs that comes or changes.
  @usableFromInline struct Demand {
    /// How many more entries there will be, and how much more they will cost.
    var count: Int
    var cost: Int

    @usableFromInline init(count: Int, cost: Int) { (self.count, self.cost) = (count, cost) }
  }

  /// The entry to remove next to make room for others; nil if they have it.
  ///
  /// - Parameter number: An entry that stays whatever happens, or ``PolicyNode/none``.
  @usableFromInline mutating func nextVictim(for demand: Demand, keeping number: Int32) -> Int32? {
    let excess = excess(demand)
    guard excess.count > 0 || excess.cost > 0 else { return nil }
    giveChances()
    if windowIsOver(demand), let candidate = oldest(in: window, but: number) {
      return loser(candidate, excess, keeping: number)
    }
    return oldest(in: probation, but: number) ?? oldest(in: protected, but: number)
      ?? oldest(in: window, but: number)
  }

  /// Moves entries that were used from the ends of their queues to where they belong.
  private mutating func giveChances() {
    for _ in 0..<Self.chanceLimit {
      let number = window.oldest
      guard number != PolicyNode.none, takeUses(number) else { break }
      window.moveToNewest(number, in: &nodes)
    }
    for _ in 0..<Self.chanceLimit {
      let number = probation.oldest
      guard number != PolicyNode.none, takeUses(number) else { break }
      probation.remove(number, in: &nodes)
      protected.addNewest(number, in: &nodes)
      demote()
    }
  }

  /// Whether an entry was used since this was called last.
  private mutating func takeUses(_ number: Int32) -> Bool {
    let uses = counters.uses(number)
    guard uses > 0 else { return false }
    counters.reset(number)
    frequencies.record(nodes[number].hash, uses: uses)
    return true
  }

  /// How often an entry was used lately, those uses included that the table does not have yet.
  private func frequency(_ number: Int32) -> Int {
    min(
      frequencies.count(nodes[number].hash) + counters.uses(number), FrequencyTable.greatestCount)
  }

  /// The least important entry when entries are dropped without a new one; nil if there is none.
  @usableFromInline mutating func leastWanted() -> Int32? {
    giveChances()
    return oldest(in: probation, but: PolicyNode.none) ?? oldest(in: window, but: PolicyNode.none)
      ?? oldest(in: protected, but: PolicyNode.none)
  }

  /// By how much limits would be exceeded.
  private func excess(_ demand: Demand) -> Demand {
    Demand(
      count: count - min(limits.count, NodeStorage.limit) + demand.count,
      // The sum of costs may be near the greatest integer, and so may the demand.
      cost: cost - limits.cost + demand.cost)
  }

  /// The candidate, or the first of the less frequent entries that would have to go for it.
  private func loser(_ candidate: Int32, _ excess: Demand, keeping number: Int32) -> Int32 {
    // Only the candidate's own room is considered: any further shortage is handled the same way afterwards.
    var goal = Demand(
      count: min(excess.count, 1), cost: min(excess.cost, nodes[candidate].cost))
    guard
      let first = oldest(in: probation, but: number) ?? oldest(in: protected, but: number)
    else { return candidate }
    let frequency = frequency(candidate)
    var victim: Int32? = first
    var sum = 0
    var weighedCount = 0
    while let current = victim, goal.count > 0 || goal.cost > 0,
      weighedCount < Self.contestLimit
    {
      sum += self.frequency(current)
      // Equals are what scans and loops are made of: a cache that replaces one by the other has none of them when it
      // comes again. The request that brought the candidate doesn't count: those that brought the others may have been
      // halved away since, or half of them.
      if sum >= frequency - 1 { return candidate }
      goal.count -= 1
      goal.cost -= nodes[current].cost
      weighedCount += 1
      victim = successor(of: current, but: number)
    }
    return first
  }

  /// The next victim after one of the main part.
  private func successor(of victim: Int32, but number: Int32) -> Int32? {
    var next = nodes[victim].newer
    if next == number, next != PolicyNode.none { next = nodes[next].newer }
    if next != PolicyNode.none { return next }
    return nodes[victim].queue == .probation ? oldest(in: protected, but: number) : nil
  }

  private func oldest(in queue: NodeQueue, but number: Int32) -> Int32? {
    var oldest = queue.oldest
    if oldest == number, oldest != PolicyNode.none { oldest = nodes[oldest].newer }
    return oldest == PolicyNode.none ? nil : oldest
  }
}

// MARK: - Shares

extension EvictionPolicy {
  private var isFull: Bool {
    // Nearly, since a cache with a limit of cost is seldom full to the last byte.
    count >= limits.count - limits.count / 16 || cost >= limits.cost - limits.cost / 16
  }

  private func share(_ share: Double, of limit: Int) -> Int {
    limit == Int.max ? Int.max : Int(Double(limit) * share)
  }

  /// The window always has room for the newest entry, whatever it costs.
  private var windowCount: Int { max(1, share(climber.share, of: limits.count)) }
  private var windowCost: Int { share(climber.share, of: limits.cost) }

  /// Whether the window would have more than its share.
  private func windowIsOver(_ demand: Demand) -> Bool {
    let count = window.count + demand.count
    guard count > 1 else { return false }
    return count > windowCount || window.cost > windowCost - max(0, demand.cost)
  }

  /// Moves entries between window and main part until each has its share.
  ///
  /// All limits are kept before and after: entries only change their queue.
  private mutating func balance() {
    let nothing = Demand(count: 0, cost: 0)
    for _ in 0..<Self.transferLimit where windowIsOver(nothing) {
      let number = window.oldest
      window.remove(number, in: &nodes)
      probation.addNewest(number, in: &nodes)
    }
    demote()
  }

  /// Puts the longest protected entries on probation, until the protected ones have their share.
  private mutating func demote() {
    let main = 1 - climber.share
    let countLimit = share(main * Self.protectedShare, of: limits.count)
    let costLimit = share(main * Self.protectedShare, of: limits.cost)
    for _ in 0..<Self.transferLimit {
      guard protected.count > 1, protected.count > countLimit || protected.cost > costLimit
      else { return }
      let number = protected.oldest
      if takeUses(number) {
        protected.moveToNewest(number, in: &nodes)
        continue
      }
      protected.remove(number, in: &nodes)
      probation.addNewest(number, in: &nodes)
    }
  }
}
