import CSteadFiles
import Synchronization

extension MemoryCache {
  @inlinable static func hash(_ key: Key) -> UInt64 {
    // Where `Int` has 32 bits, the product has bits in its upper half, too.
    UInt64(UInt(bitPattern: key.hashValue)) &* 0x9E37_79B9_7F4A_7C15
  }

  /// Makes sure that no running load is kept for the key; called under the lock of `control`.
  ///
  /// - Returns: What must be dropped once no lock is held.
  @usableFromInline func cancelKeeping(_ key: Key) -> (any AnyObject & Sendable)? {
    flights.forget(key)
  }

  /// Sets a value; what it removes must be finished when no lock is held.
  ///
  /// - Parameter ticket: The ticket of the load that produced the value; nil for a value that is set directly.
  @inlinable func store(
    _ value: Value, _ key: Key, cost: Int, timeToLive: Duration?, from ticket: LoadTicket? = nil
  ) -> (removed: Removed, isKept: Bool) {
    let hash = Self.hash(key)
    let timeToLive = timeToLive ?? self.timeToLive
    return control.withLock { control -> (Removed, Bool) in
      var removed = Removed()
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
      if let reason {
        if let found { remove(found.number, hash, .replaced, &control, &removed) }
        removed.append(Removed.Entry(key: key, value: value, reason: reason))
      } else if let found {
        replace(found.number, hash, value, cost, times, now, &control, &removed)
      } else {
        add(key, hash, value, cost, times, now, &control, &removed)
      }
      if ticket == nil { removed.forgotten = cancelKeeping(key) }
      handOver(&removed, &control)
      return (removed, reason == nil)
    }
  }

  @inlinable func add(
    _ key: Key, _ hash: UInt64, _ value: Value, _ cost: Int, _ times: EntryTimes, _ now: Int64,
    _ control: inout Control, _ removed: inout Removed
  ) {
    let demand = EvictionPolicy.Demand(count: 1, cost: cost)
    makeRoom(for: demand, keeping: PolicyNode.none, .evicted, &control, &removed)
    let number = control.policy.pointee.add(
      hash: hash, cost: cost, deadline: times.deadline, now: now)
    if control.policy.pointee.asksForHits { control.policy.pointee.takeHits(hits) }
    let tag = EntryTable<Key, Value>.tag(hash)
    shelf(hash) {
      $0.add(.init(key: key, value: value, times: times, number: number, tag: tag))
    }
  }

  @inlinable func replace(
    _ number: Int32, _ hash: UInt64, _ value: Value, _ cost: Int, _ times: EntryTimes, _ now: Int64,
    _ control: inout Control, _ removed: inout Removed
  ) {
    control.policy.pointee.use(number)
    let demand = EvictionPolicy.Demand(
      count: 0, cost: cost - control.policy.pointee.cost(of: number))
    makeRoom(for: demand, keeping: number, .evicted, &control, &removed)
    let old = shelf(hash) { table -> Removed.Entry? in
      guard let place = table.find(number: number, hash) else { return nil }
      let key = table.entries[place].key
      return Removed.Entry(
        key: key, value: table.replace(value, times: times, at: place), reason: .replaced)
    }
    if let old { removed.append(old) }
    control.policy.pointee.replace(
      number, cost: cost, deadline: times.deadline, now: now)
  }

  /// Removes entries until there is room.
  @inlinable func makeRoom(
    for demand: EvictionPolicy.Demand, keeping number: Int32, _ reason: RemovalReason,
    _ control: inout Control, _ removed: inout Removed
  ) {
    while let victim = control.policy.pointee.nextVictim(for: demand, keeping: number) {
      remove(victim, control.policy.pointee.hash(of: victim), reason, &control, &removed)
    }
  }

  /// Removes what has expired.
  ///
  /// - Returns: The time, if anything has a deadline.
  @inlinable func prepare(_ control: inout Control, _ removed: inout Removed) -> Int64? {
    guard control.policy.pointee.hasDeadlines else { return nil }
    let now = clock.nanoseconds
    while let number = control.policy.pointee.nextExpired(now: now) {
      removeUnlessUsed(
        number, control.policy.pointee.hash(of: number), now, &control, &removed)
    }
    return now
  }

  /// Removes an entry whose time seems to be over, unless a use has prolonged it.
  @usableFromInline func removeUnlessUsed(
    _ number: Int32, _ hash: UInt64, _ now: Int64, _ control: inout Control,
    _ removed: inout Removed
  ) {
    // Under one lock: a read that comes between would have found what is removed.
    let (entry, deadline) = shelf(hash) { table -> (Removed.Entry?, Int64?) in
      guard let place = table.find(number: number, hash) else { return (nil, nil) }
      let deadline = table.entries[place].times.deadline
      guard deadline <= now else { return (nil, deadline) }
      let entry = table.remove(at: place)
      return (Removed.Entry(key: entry.key, value: entry.value, reason: .expired), nil)
    }
    if let deadline {
      control.policy.pointee.prolong(number, until: deadline, now: now)
    } else {
      control.policy.pointee.remove(number, isEviction: false)
      if let entry { removed.append(entry) }
    }
  }

  @discardableResult @inlinable func remove(
    _ number: Int32, _ hash: UInt64, _ reason: RemovalReason,
    _ control: inout Control, _ removed: inout Removed
  ) -> Value? {
    let entry = shelf(hash) { table -> Removed.Entry? in
      guard let place = table.find(number: number, hash) else { return nil }
      let entry = table.remove(at: place)
      return Removed.Entry(key: entry.key, value: entry.value, reason: reason)
    }
    control.policy.pointee.remove(number, isEviction: reason == .evicted)
    if let entry { removed.append(entry) }
    return entry?.value
  }

  /// The number and the deadline of a key's entry.
  @inlinable func number(of key: Key, _ hash: UInt64) -> (number: Int32, deadline: Int64)? {
    shelf(hash) { table in
      table.find(key, hash).map { (table.entries[$0].number, table.entries[$0].times.deadline) }
    }
  }

  @inlinable func shelf<Result>(
    _ hash: UInt64, _ body: (inout EntryTable<Key, Value>) -> Result
  ) -> Result {
    shelves[Int(truncatingIfNeeded: hash) & shelfMask].withLock(body)
  }

  /// How many reads have found a value, ever.
  @usableFromInline var hits: Int {
    var sum = 0
    for number in 0...shelfMask { sum += shelves[number].withLock { $0.hits } }
    return sum
  }

  var misses: Int {
    var sum = 0
    for number in 0...shelfMask { sum += shelves[number].withLock { $0.misses } }
    return sum
  }

  func shrink() {
    for number in 0...shelfMask { shelves[number].withLock { $0.shrink() } }
  }
}

// MARK: - Reads

extension MemoryCache {
  /// Removes an entry that was found expired.
  @usableFromInline func removeExpired(_ key: Key, _ hash: UInt64) {
    let removed = control.withLock { control in
      var removed = Removed()
      let now = prepare(&control, &removed) ?? 0
      if let found = number(of: key, hash), found.deadline <= now {
        removeUnlessUsed(found.number, hash, now, &control, &removed)
      }
      handOver(&removed, &control)
      return removed
    }
    finish(removed)
  }
}

// MARK: - The handler

extension MemoryCache {
  /// Queues removed entries for the handler; they stay where they are if there is no handler.
  @inlinable func handOver(_ removed: inout Removed, _ control: inout Control) {
    if onRemoval != nil { removed.move(to: &control.removed) }
  }

  /// Drops removed entries, or calls the handler with them. No lock is held.
  @inlinable func finish(_ removed: consuming Removed) {
    if let onRemoval { deliver(to: onRemoval) }
  }

  @usableFromInline func deliver(to handler: RemovalHandler) {
    var isFirst = true
    while true {
      let batch = control.withLock { control -> [Removed.Entry] in
        if isFirst, control.isDelivering { return [] }
        isFirst = false
        control.isDelivering = !control.removed.isEmpty
        defer { control.removed = [] }
        return control.removed
      }
      if batch.isEmpty { return }
      for entry in batch { handler(entry.key, entry.value, entry.reason) }
    }
  }
}

// MARK: - Removed entries

/// Entries that a change removed from a memory cache, to be processed once no lock is held.
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
