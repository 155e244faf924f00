/// Decides which entries stay: W-TinyLFU.
///
/// A new entry enters the window, a queue in order of use. Entries that the window has no room for
/// become candidates for the main part. While it has room they go there. When it has none, a
/// candidate's frequency is compared with that of the entries that would have to go for it, and the
/// less frequent side is evicted; of two equals, the candidate. The main part has two queues in
/// order of use: entries begin on probation, are protected once they are used again, and go back
/// when there are too many protected ones.
///
/// Reads only count (``UseCounters``). Their effect on the queues is applied when an entry reaches
/// the end of its queue: one that was used in the meantime goes to the front, or from probation to
/// the protected ones. So queues are ordered as in the clock algorithm, and a read costs next to
/// nothing.
///
/// A value without generics, clock or lock: it knows entries by numbers, hashes, costs and
/// deadlines, so that it is compiled once, and tested with traces of requests.
///
/// Every call costs constant time. Growing, halving the frequencies and expiry cost it over many
/// calls.
///
/// Source: G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission
/// Policy", 2017.
@usableFromInline struct EvictionPolicy: ~Copyable {
  /// The most entries, and the greatest sum of their costs.
  struct Limits {
    var count = Int.max
    var cost = Int.max
  }

  /// The share of the main part that may be protected, as in the papers.
  private static let protectedShare = 0.8
  /// The number of entries that move between window and main part with one change, after the
  /// window's share has changed: the cost of a large step is spread over many calls.
  private static let transferLimit = 16
  /// The number of victims that are compared with one candidate, which needs several if it is
  /// large.
  private static let contestLimit = 16
  /// The number of entries that get a second chance at once.
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

  /// Why an entry is refused, however much room is made; nil if it isn't.
  @usableFromInline func refusal(cost: Int, deadline: Int64, now: Int64) -> RemovalReason? {
    if limits.count == 0 || cost > limits.cost { return .evicted }
    return deadline <= now && deadline != PolicyNode.never ? .expired : nil
  }

  /// The hash of an entry's key.
  @usableFromInline func hash(of number: Int32) -> UInt64 { nodes[number].hash }
}

// MARK: - Changes

extension EvictionPolicy {
  /// Adds an entry, for which ``nextVictim(for:keeping:)`` has made room, to the window.
  @usableFromInline mutating func add(
    hash: UInt64, cost: Int, deadline: Int64, now: Int64
  ) -> Int32 {
    let number = nodes.add(PolicyNode(hash: hash, cost: cost, deadline: deadline))
    // Before the entry gets into a shard, where readers use the counter.
    counters.add(number)
    window.addNewest(number, in: &nodes)
    if deadline != PolicyNode.never { wheel.add(number, now: now, in: &nodes) }
    // Before `record`, so that the table has room for the new hash.
    if count > frequencies.capacity { growFrequencies() }
    frequencies.record(hash)
    // Misses are counted by new entries, since reads don't touch the policy.
    climber.recordMiss()
    balance()
    return number
  }

  /// Enlarges the frequency table by half, up to the limit of entries.
  ///
  /// By half and not to the count alone: growing costs a pass over the table, which each new entry
  /// would cost otherwise.
  private mutating func growFrequencies() {
    let more = frequencies.capacity + frequencies.capacity / 2
    frequencies.grow(to: max(count, min(limits.count, more)))
  }

  /// Whether ``updateWindow(_:)`` should be called: not before the cache is full, since the window
  /// decides nothing until then.
  @usableFromInline var needsHits: Bool { isFull && climber.needsHits(entryCount: count) }

  /// Adapts the window's share to the hit ratio.
  ///
  /// - Parameter hits: The hits of the cache's whole life.
  @usableFromInline mutating func updateWindow(_ hits: Int) {
    climber.updateWindow(hits, entryCount: count)
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
    // The frequency stays: a key that comes back is weighed with its earlier requests.
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

  /// An entry whose deadline passed before the current tick; nil if there is none.
  @usableFromInline mutating func nextExpired(now: Int64) -> Int32? {
    wheel.nextExpired(now: now, in: &nodes)
  }
}

// MARK: - Room

extension EvictionPolicy {
  /// The room that a new or changed entry needs.
  @usableFromInline struct Demand {
    /// How many more entries there will be, and how much more they will cost.
    var count: Int
    var cost: Int

    @usableFromInline init(count: Int, cost: Int) { (self.count, self.cost) = (count, cost) }
  }

  /// The next entry to remove to make room; nil once there is enough.
  ///
  /// The caller removes it and calls this again. Terminates, since each call that returns an entry
  /// leaves one entry less.
  ///
  /// - Parameter number: An entry that must stay, since its value is being replaced, or
  ///   ``PolicyNode/none``.
  @usableFromInline mutating func nextVictim(for demand: Demand, keeping number: Int32) -> Int32? {
    let excess = excess(demand)
    guard excess.count > 0 || excess.cost > 0 else { return nil }
    giveSecondChances()
    // Only a window above its share brings a candidate; otherwise the main part makes the room.
    if windowExceeds(demand), let candidate = oldest(in: window, but: number) {
      return contestLoser(candidate, excess, keeping: number)
    }
    return oldest(in: probation, but: number) ?? oldest(in: protected, but: number)
      ?? oldest(in: window, but: number)
  }

  /// Applies the uses that were only counted so far to the entries at the ends of their queues, as
  /// the clock algorithm does.
  private mutating func giveSecondChances() {
    for _ in 0..<Self.chanceLimit {
      let number = window.oldest
      // A limit, since with threads that read all the time each entry may have been used again.
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
    // A read in between is lost, which costs less than an atomic exchange for every read
    // (``UseCounters``).
    counters.reset(number)
    frequencies.record(nodes[number].hash, uses: uses)
    return true
  }

  /// The estimated frequency of an entry, including uses that the table doesn't have yet.
  private func frequency(_ number: Int32) -> Int {
    min(
      frequencies.count(nodes[number].hash) + counters.uses(number), FrequencyTable.greatestCount)
  }

  /// The entry to drop first when none takes its place, as under memory pressure; nil if there is
  /// none.
  @usableFromInline mutating func coldest() -> Int32? {
    giveSecondChances()
    return oldest(in: probation, but: PolicyNode.none) ?? oldest(in: window, but: PolicyNode.none)
      ?? oldest(in: protected, but: PolicyNode.none)
  }

  /// By how much a demand exceeds the limits.
  private func excess(_ demand: Demand) -> Demand {
    Demand(
      count: count - min(limits.count, NodeStorage.limit) + demand.count,
      // The sum of costs may be near the greatest integer, and so may the demand.
      cost: cost - limits.cost + demand.cost)
  }

  /// Decides the admission of a candidate: returns the entry to evict, either the candidate, or the
  /// first of the entries that would have to go for it.
  private func contestLoser(_ candidate: Int32, _ excess: Demand, keeping number: Int32) -> Int32 {
    // Only the candidate's own size counts. If more room is needed, the next call decides about the
    // next candidate.
    var goal = Demand(
      count: min(excess.count, 1), cost: min(excess.cost, nodes[candidate].cost))
    guard
      let first = oldest(in: probation, but: number) ?? oldest(in: protected, but: number)
    else { return candidate }
    let frequency = frequency(candidate)
    var victim: Int32? = first
    var sum = 0
    var comparedCount = 0
    while let current = victim, goal.count > 0 || goal.cost > 0,
      comparedCount < Self.contestLimit
    {
      // A large candidate stands against all that would have to go for it, so their frequencies are
      // summed.
      sum += self.frequency(current)
      // Of equals the older one stays: scans and loops consist of keys with equal frequencies, and
      // a cache that replaced one by the other would have none of them when they come again. The
      // request that brought the candidate is subtracted: those that brought the others may have
      // been halved away since.
      if sum >= frequency - 1 { return candidate }
      goal.count -= 1
      goal.cost -= nodes[current].cost
      comparedCount += 1
      victim = successor(of: current, but: number)
    }
    return first
  }

  /// The next entry in the order of eviction of the main part.
  private func successor(of victim: Int32, but number: Int32) -> Int32? {
    var next = nodes[victim].newer
    // `number` may be `none`, too, and must not match the end of the queue.
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
    // To fifteen sixteenths: a cache with a limit of cost is seldom full to the last byte.
    count >= limits.count - limits.count / 16 || cost >= limits.cost - limits.cost / 16
  }

  private func share(_ share: Double, of limit: Int) -> Int {
    // No limit stays none: a share of it would be a limit.
    limit == Int.max ? Int.max : Int(Double(limit) * share)
  }

  // At least one: the newest entry is always kept, whatever it costs.
  private var windowCount: Int { max(1, share(climber.share, of: limits.count)) }
  private var windowCost: Int { share(climber.share, of: limits.cost) }

  /// Whether the window would exceed its share with a demand.
  private func windowExceeds(_ demand: Demand) -> Bool {
    let count = window.count + demand.count
    guard count > 1 else { return false }
    return count > windowCount || window.cost > windowCost - max(0, demand.cost)
  }

  /// Moves entries between window and main part until each has its share.
  ///
  /// All limits are kept before and after: entries only change their queue.
  private mutating func balance() {
    let nothing = Demand(count: 0, cost: 0)
    for _ in 0..<Self.transferLimit where windowExceeds(nothing) {
      // Not `giveSecondChances`: what leaves the window isn't evicted, and keeps its counted uses.
      let number = window.oldest
      window.remove(number, in: &nodes)
      probation.addNewest(number, in: &nodes)
    }
    demote()
  }

  /// Demotes the least recently used protected entries to probation, until the protected ones have
  /// their share.
  private mutating func demote() {
    let main = 1 - climber.share
    let countLimit = share(main * Self.protectedShare, of: limits.count)
    let costLimit = share(main * Self.protectedShare, of: limits.cost)
    for _ in 0..<Self.transferLimit {
      guard protected.count > 1, protected.count > countLimit || protected.cost > costLimit
      else { return }
      let number = protected.oldest
      // Used since it was protected: a second chance instead of probation.
      if takeUses(number) {
        protected.moveToNewest(number, in: &nodes)
        continue
      }
      protected.remove(number, in: &nodes)
      probation.addNewest(number, in: &nodes)
    }
  }
}
