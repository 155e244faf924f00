import CSteadFiles
import Synchronization

// All steps of a change run under the lock of `control`. Values that leave must not be released
// there, since their `deinit` may use the cache, so each step appends them to a `Removals`, which
// the caller passes to `finish(_:)` afterwards.
extension MemoryCache {
  /// The key's hash, mixed so that the shard (lower bits) and the slot (upper half) are
  /// independent.
  @inlinable static func hash(_ key: Key) -> UInt64 {
    // Where `Int` has 32 bits, the product has bits in its upper half, too.
    // The odd number nearest to 2^64 divided by the golden ratio (Fibonacci hashing).
    UInt64(UInt(bitPattern: key.hashValue)) &* 0x9E37_79B9_7F4A_7C15
  }

  /// Keeps a running load of the key from being stored. Requires the lock of `control`.
  ///
  /// - Returns: An object to release once no lock is held.
  @usableFromInline func cancelKeeping(_ key: Key) -> (any AnyObject & Sendable)? {
    loads.forget(key)
  }

  /// Sets a value; the caller passes what was removed to ``finish(_:)`` once no lock is held.
  ///
  /// Invariant: the limits hold before and after each step. A value that is refused replaces the
  /// older one nevertheless: the caller has said that the older one is outdated.
  ///
  /// - Parameter ticket: The ticket of the load that produced the value; nil for a value that is
  ///   set directly.
  @inlinable func store(
    _ value: Value, _ key: Key, cost: Int, timeToLive: Duration?, from ticket: LoadTicket? = nil
  ) -> (removed: Removals, isKept: Bool) {
    let hash = Self.hash(key)
    let timeToLive = timeToLive ?? self.timeToLive
    return control.withLock { control -> (Removals, Bool) in
      var removed = Removals()
      // Under the lock under which a change of the key cancels the ticket.
      if let ticket, !ticket.isValid { return (removed, false) }
      let hasTimes =
        timeToLive != nil || idleTime != PolicyNode.never || refreshTime != PolicyNode.never
      let now = prepare(&control, &removed) ?? (hasTimes ? clock.nanoseconds : 0)
      let times = EntryTimes(
        lastDeadline: clock.deadline(timeToLive, after: now), idleTime: idleTime,
        refresh: CacheClock.sum(now, refreshTime), now: now)
      let found = number(of: key, hash)
      let cost = max(0, cost)
      let reason = control.policy.pointee.refusal(cost: cost, deadline: times.deadline, now: now)
      // The policy is asked before anything is removed for a value that it would refuse.
      if let reason {
        if let found { remove(found.number, hash, .replaced, &control, &removed) }
        removed.append(Removals.Entry(key: key, value: value, reason: reason))
      } else if let found {
        replace(found.number, hash, value, cost, times, now, &control, &removed)
      } else {
        add(key, hash, value, cost, times, now, &control, &removed)
      }
      if ticket == nil { removed.forgotten = cancelKeeping(key) }
      enqueue(&removed, &control)
      return (removed, reason == nil)
    }
  }

  /// Adds the entry of a key that has none. Requires the lock of `control`.
  ///
  /// Room is made first, so that the limits hold while the entry is added. The policy has the entry
  /// before its shard does: a reader that finds it has a counter to count with.
  @inlinable func add(
    _ key: Key, _ hash: UInt64, _ value: Value, _ cost: Int, _ times: EntryTimes, _ now: Int64,
    _ control: inout Control, _ removed: inout Removals
  ) {
    let demand = EvictionPolicy.Demand(count: 1, cost: cost)
    makeRoom(for: demand, keeping: PolicyNode.none, .evicted, &control, &removed)
    let number = control.policy.pointee.add(
      hash: hash, cost: cost, deadline: times.deadline, now: now)
    // Hits are counted by the shards, so the policy only gets their sum now and then.
    if control.policy.pointee.needsHits { control.policy.pointee.updateWindow(hits) }
    let tag = EntryTable<Key, Value>.tag(hash)
    shard(hash) {
      $0.add(.init(key: key, value: value, times: times, number: number, tag: tag))
    }
  }

  /// Replaces the value of an entry. Requires the lock of `control`.
  ///
  /// Room is made for the difference in cost before the value is replaced, and never by evicting
  /// the entry itself.
  @inlinable func replace(
    _ number: Int32, _ hash: UInt64, _ value: Value, _ cost: Int, _ times: EntryTimes, _ now: Int64,
    _ control: inout Control, _ removed: inout Removals
  ) {
    // A set is a use, too.
    control.policy.pointee.use(number)
    let demand = EvictionPolicy.Demand(
      count: 0, cost: cost - control.policy.pointee.cost(of: number))
    makeRoom(for: demand, keeping: number, .evicted, &control, &removed)
    let old = shard(hash) { table -> Removals.Entry? in
      guard let index = table.find(number: number, hash) else { return nil }
      let key = table.entries[index].key
      return Removals.Entry(
        key: key, value: table.replace(value, times: times, at: index), reason: .replaced)
    }
    if let old { removed.append(old) }
    control.policy.pointee.replace(
      number, cost: cost, deadline: times.deadline, now: now)
  }

  /// Evicts entries until there is room for a demand.
  @inlinable func makeRoom(
    for demand: EvictionPolicy.Demand, keeping number: Int32, _ reason: RemovalReason,
    _ control: inout Control, _ removed: inout Removals
  ) {
    while let victim = control.policy.pointee.nextVictim(for: demand, keeping: number) {
      remove(victim, control.policy.pointee.hash(of: victim), reason, &control, &removed)
    }
  }

  /// Removes entries that have expired.
  ///
  /// - Returns: The time; nil if no entry has a deadline, so that a cache without times never reads
  ///   the clock.
  @inlinable func prepare(_ control: inout Control, _ removed: inout Removals) -> Int64? {
    guard control.policy.pointee.hasDeadlines else { return nil }
    let now = clock.nanoseconds
    while let number = control.policy.pointee.nextExpired(now: now) {
      removeUnlessUsed(
        number, control.policy.pointee.hash(of: number), now, &control, &removed)
    }
    return now
  }

  /// Removes an entry whose deadline has passed, as far as the policy knows, unless a use has
  /// extended it.
  @usableFromInline func removeUnlessUsed(
    _ number: Int32, _ hash: UInt64, _ now: Int64, _ control: inout Control,
    _ removed: inout Removals
  ) {
    // Compared and removed under one lock: a read in between could have extended the deadline and
    // returned the value.
    let (entry, deadline) = shard(hash) { table -> (Removals.Entry?, Int64?) in
      guard let index = table.find(number: number, hash) else { return (nil, nil) }
      let deadline = table.entries[index].times.deadline
      guard deadline <= now else { return (nil, deadline) }
      let entry = table.remove(at: index)
      return (Removals.Entry(key: entry.key, value: entry.value, reason: .expired), nil)
    }
    if let deadline {
      // The wheel learns of a use only here: a read doesn't touch the policy.
      control.policy.pointee.prolong(number, until: deadline, now: now)
    } else {
      control.policy.pointee.remove(number, isEviction: false)
      if let entry { removed.append(entry) }
    }
  }

  /// Removes an entry from its shard and from the policy, and returns its value. Requires the lock
  /// of `control`.
  @discardableResult @inlinable func remove(
    _ number: Int32, _ hash: UInt64, _ reason: RemovalReason,
    _ control: inout Control, _ removed: inout Removals
  ) -> Value? {
    let entry = shard(hash) { table -> Removals.Entry? in
      guard let index = table.find(number: number, hash) else { return nil }
      let entry = table.remove(at: index)
      return Removals.Entry(key: entry.key, value: entry.value, reason: reason)
    }
    // Out of the shard first: a reader that still finds an entry counts with its number, which
    // another entry may have by then.
    control.policy.pointee.remove(number, isEviction: reason == .evicted)
    if let entry { removed.append(entry) }
    return entry?.value
  }

  /// The number and the deadline of a key's entry.
  @inlinable func number(of key: Key, _ hash: UInt64) -> (number: Int32, deadline: Int64)? {
    shard(hash) { table in
      table.find(key, hash).map { (table.entries[$0].number, table.entries[$0].times.deadline) }
    }
  }

  /// Calls `body` with the table that has the keys of a hash, under its lock.
  @inlinable func shard<Result>(
    _ hash: UInt64, _ body: (inout EntryTable<Key, Value>) -> Result
  ) -> Result {
    shards[Int(truncatingIfNeeded: hash) & shardMask].withLock(body)
  }

  /// The number of reads that have found a value, since the cache was made.
  @usableFromInline var hits: Int {
    var sum = 0
    for number in 0...shardMask { sum += shards[number].withLock { $0.hits } }
    return sum
  }

  var misses: Int {
    var sum = 0
    for number in 0...shardMask { sum += shards[number].withLock { $0.misses } }
    return sum
  }

  /// Frees the memory of tables that have become too large.
  func shrink() {
    for number in 0...shardMask { shards[number].withLock { $0.shrink() } }
  }
}

// MARK: - Reads

extension MemoryCache {
  /// Removes an entry that a read found expired.
  @usableFromInline func removeExpired(_ key: Key, _ hash: UInt64) {
    let removed = control.withLock { control in
      var removed = Removals()
      let now = prepare(&control, &removed) ?? 0
      // Looked up again: between the two locks the value may have been replaced or used.
      if let found = number(of: key, hash), found.deadline <= now {
        removeUnlessUsed(found.number, hash, now, &control, &removed)
      }
      enqueue(&removed, &control)
      return removed
    }
    finish(removed)
  }
}

// MARK: - The handler

extension MemoryCache {
  /// Queues removed entries for the handler, if there is one. Under the lock of `control`, so that
  /// the handler gets them in the order in which they left.
  @inlinable func enqueue(_ removed: inout Removals, _ control: inout Control) {
    if onRemoval != nil { removed.move(to: &control.removed) }
  }

  /// Releases removed entries, or calls the handler with them. No lock is held.
  @inlinable func finish(_ removed: consuming Removals) {
    if let onRemoval { deliver(to: onRemoval) }
  }

  /// Calls the handler with all queued entries, unless another thread is doing that: then that
  /// thread takes these, too, so that the handler never runs twice at the same time.
  @usableFromInline func deliver(to handler: RemovalHandler) {
    var isFirst = true
    while true {
      let batch = control.withLock { control -> [Removals.Entry] in
        // Another thread delivers, and takes these entries with its next batch.
        if isFirst, control.isDelivering { return [] }
        isFirst = false
        control.isDelivering = !control.removed.isEmpty
        defer { control.removed = [] }
        return control.removed
      }
      // Either another thread delivers, or `isDelivering` became false under the lock: whoever queues
      // entries from now on delivers them.
      if batch.isEmpty { return }
      for entry in batch { handler(entry.key, entry.value, entry.reason) }
    }
  }
}

// MARK: - Removed entries

/// Entries that a change has removed from a memory cache, to be released or reported once no lock
/// is held.
@usableFromInline struct RemovedEntries<Key: Sendable, Value: Sendable>: Sendable {
  @usableFromInline struct Entry: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let value: Value
    @usableFromInline let reason: RemovalReason

    @inlinable init(key: Key, value: Value, reason: RemovalReason) {
      (self.key, self.value, self.reason) = (key, value, reason)
    }
  }

  // Most changes remove at most one entry, which needs no array.
  @usableFromInline var first: Entry?
  @usableFromInline var others: [Entry] = []
  /// Loads that can't be joined any more.
  @usableFromInline var forgotten: (any AnyObject & Sendable)?

  @inlinable init() {}

  @inlinable mutating func append(_ entry: Entry) {
    if first == nil { first = entry } else { others.append(entry) }
  }

  /// Moves all entries to the end of an array.
  @inlinable mutating func move(to array: inout [Entry]) {
    guard let entry = first else { return }
    array.append(entry)
    array += others
    first = nil
    others = []
  }
}
