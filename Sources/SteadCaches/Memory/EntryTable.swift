import CSteadFiles

/// The hash table of one shard of a memory cache.
///
/// Open addressing with linear probing and backward-shift deletion. Entries are stored
/// contiguously; `words` are the slots that refer to them, at least twice as many as there are
/// entries, so a search always ends at an empty one:
///
/// | bits of a slot | meaning |
/// |---|---|
/// | 32–63 | the tag: the upper half of the key's hash |
/// | 0–31 | the entry's index plus one; 0 in an empty slot |
///
/// Not a `Dictionary`: an entry that was found must be changed in place (its deadline), and found
/// again by its node's number, without hashing its key, which is the program's code.
@usableFromInline struct EntryTable<Key: Hashable, Value>: ~Copyable {
  @usableFromInline struct Entry {
    @usableFromInline let key: Key
    @usableFromInline var value: Value
    @usableFromInline var times: EntryTimes
    /// The number of the entry's node in the policy.
    @usableFromInline let number: Int32
    @usableFromInline let tag: UInt32

    @inlinable init(key: Key, value: Value, times: EntryTimes, number: Int32, tag: UInt32) {
      (self.key, self.value) = (key, value)
      (self.times, self.number, self.tag) = (times, number, tag)
    }
  }

  /// Small, since a cache has a table for each of its up to 256 shards.
  @inlinable static var firstCapacity: Int { 1 }

  @usableFromInline var words: UnsafeMutablePointer<UInt64>
  @usableFromInline var mask: Int
  @usableFromInline var entries: UnsafeMutablePointer<Entry>
  @usableFromInline var count = 0
  @usableFromInline var hits = 0
  @usableFromInline var misses = 0

  /// The capacity in entries.
  @inlinable var capacity: Int { (mask + 1) / 2 }

  @inlinable init() {
    mask = Self.firstCapacity * 2 - 1
    words = .allocate(capacity: mask + 1)
    words.initialize(repeating: 0, count: mask + 1)
    entries = .allocate(capacity: Self.firstCapacity)
  }

  @inlinable deinit {
    entries.deinitialize(count: count)
    entries.deallocate()
    words.deallocate()
  }

  @inlinable static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

  /// Returns the index of the key's entry in `entries`.
  @inlinable func find(_ key: Key, _ hash: UInt64) -> Int? {
    let tag = Self.tag(hash)
    var slot = Int(tag) & mask
    while true {
      let word = words[slot]
      if word == 0 { return nil }
      if UInt32(truncatingIfNeeded: word >> 32) == tag {
        // Keys are compared only behind an equal tag: their `==` is the program's code, and their
        // memory elsewhere.
        let entry = Int(word & 0xFFFF_FFFF) - 1
        if entries[entry].key == key { return entry }
      }
      slot = (slot + 1) & mask
    }
  }

  /// Returns the value of a key, counts a hit or a miss, and records the use.
  ///
  /// - Parameters:
  ///   - idleTime: For how long a use lets the entry live; ``PolicyNode/never`` if that makes no
  ///     difference.
  ///   - now: The time; asked only if the entry has a deadline.
  @inlinable mutating func read(
    _ key: Key, _ hash: UInt64, _ counters: UseCounters, idleTime: Int64, now: () -> Int64
  ) -> (value: Value?, isExpired: Bool) {
    guard let index = find(key, hash) else {
      misses += 1
      return (nil, false)
    }
    // Without a deadline the clock isn't read.
    if entries[index].times.deadline != PolicyNode.never {
      let now = now()
      if entries[index].times.deadline <= now {
        // Removed by the caller: that needs the control lock, which must be acquired first.
        misses += 1
        return (nil, true)
      }
      if idleTime != PolicyNode.never {
        entries[index].times.recordUse(at: now, idleTime: idleTime)
      }
    }
    hits += 1
    counters.countUse(entries[index].number)
    return (entries[index].value, false)
  }

  /// Returns the value of a key without counting or recording a use.
  @inlinable func peek(_ key: Key, _ hash: UInt64, now: () -> Int64) -> Value? {
    guard let index = find(key, hash) else { return nil }
    let deadline = entries[index].times.deadline
    return deadline == PolicyNode.never || deadline > now() ? entries[index].value : nil
  }
}

// MARK: - Changes

extension EntryTable {
  /// Adds the entry of a key that has none.
  @inlinable mutating func add(_ entry: consuming Entry) {
    if count == capacity { resize(to: capacity * 2) }
    // After the resizing, which builds all slots again.
    link(tag: entry.tag, to: count)
    (entries + count).initialize(to: entry)
    count += 1
  }

  /// Sets an entry's value and returns the old one.
  @inlinable mutating func replace(_ value: Value, times: EntryTimes, at index: Int) -> Value {
    var value = value
    swap(&entries[index].value, &value)
    entries[index].times = times
    return value
  }

  /// Removes an entry. The last one gets its index, so that entries stay without gaps.
  @inlinable mutating func remove(at index: Int) -> Entry {
    unlink(tag: entries[index].tag, from: index)
    let entry = (entries + index).move()
    count -= 1
    if index != count {
      // The last entry fills the gap.
      // Its slot is found before it is moved: the slot still has the old index.
      let slot = slot(tag: entries[count].tag, of: count)
      (entries + index).moveInitialize(from: entries + count, count: 1)
      words[slot] = UInt64(entries[index].tag) << 32 | UInt64(index + 1)
    }
    return entry
  }

  /// Returns the index of the entry with a node's number.
  @inlinable func find(number: Int32, _ hash: UInt64) -> Int? {
    let tag = Self.tag(hash)
    var slot = Int(tag) & mask
    while words[slot] != 0 {
      let entry = Int(words[slot] & 0xFFFF_FFFF) - 1
      // By the number alone, which only this entry has: its tag needn't be compared.
      if entries[entry].number == number { return entry }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Frees memory that no entry needs any more.
  @inlinable mutating func shrink() {
    var wanted = Self.firstCapacity
    while wanted < count { wanted *= 2 }
    // A power of 2, for the mask.
    if wanted < capacity { resize(to: wanted) }
  }

  @inlinable mutating func resize(to capacity: Int) {
    // Entries keep their indexes; the slots are built again from their tags, without hashing keys.
    let larger = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
    larger.moveInitialize(from: entries, count: count)
    entries.deallocate()
    entries = larger
    words.deallocate()
    mask = capacity * 2 - 1
    words = .allocate(capacity: mask + 1)
    words.initialize(repeating: 0, count: mask + 1)
    for index in 0..<count { link(tag: entries[index].tag, to: index) }
  }

  /// Writes a slot that refers to an entry, at the first empty one from its home on.
  @inlinable func link(tag: UInt32, to entry: Int) {
    var slot = Int(tag) & mask
    while words[slot] != 0 { slot = (slot + 1) & mask }
    words[slot] = UInt64(tag) << 32 | UInt64(entry + 1)
  }

  /// The slot that refers to an entry.
  @inlinable func slot(tag: UInt32, of entry: Int) -> Int {
    let wanted = UInt64(tag) << 32 | UInt64(entry + 1)
    var slot = Int(tag) & mask
    while words[slot] != wanted { slot = (slot + 1) & mask }
    return slot
  }

  /// Empties an entry's slot, and moves back the slots after it that the gap would hide from a
  /// search.
  ///
  /// Invariant: no slot between an entry's home slot (its tag's lower bits) and its own is empty.
  /// Tombstones would keep it as well, but a cache that is full removes an entry for each one that
  /// it adds.
  @inlinable func unlink(tag: UInt32, from entry: Int) {
    var gap = self.slot(tag: tag, of: entry)
    var slot = (gap + 1) & mask
    while words[slot] != 0 {
      let start = Int(words[slot] >> 32) & mask
      // Cyclic distances: the gap lies between the home slot and this one.
      if (slot - start) & mask >= (slot - gap) & mask {
        words[gap] = words[slot]
        gap = slot
      }
      slot = (slot + 1) & mask
    }
    words[gap] = 0
  }
}

// MARK: - Times

/// The times of an entry, in nanoseconds of the cache's clock.
@usableFromInline struct EntryTimes: Sendable {
  /// When the entry expires; ``PolicyNode/never`` if it doesn't.
  @usableFromInline private(set) var deadline: Int64
  /// When it expires at the latest, however much it is used.
  @usableFromInline let lastDeadline: Int64
  /// When a request with a loader refreshes it; ``PolicyNode/never`` if that is off, or a refresh
  /// is running.
  @usableFromInline var refresh: Int64

  @usableFromInline init(lastDeadline: Int64, idleTime: Int64, refresh: Int64, now: Int64) {
    (self.lastDeadline, self.refresh) = (lastDeadline, refresh)
    deadline = lastDeadline
    if idleTime != PolicyNode.never { recordUse(at: now, idleTime: idleTime) }
  }

  /// Extends the deadline by the time to idle, but never beyond the last one.
  @usableFromInline mutating func recordUse(at now: Int64, idleTime: Int64) {
    let (idleDeadline, isTooLarge) = now.addingReportingOverflow(idleTime)
    deadline = min(lastDeadline, isTooLarge ? PolicyNode.never : idleDeadline)
  }
}

/// The clock of a memory cache: nanoseconds since it was made, on a clock that is never set back.
@usableFromInline struct CacheClock: Sendable {
  private static let nanosecondsInSecond: Int64 = 1_000_000_000
  private static let attosecondsInNanosecond: Int64 = 1_000_000_000

  private let now: @Sendable () -> Duration

  /// The system's clock, which continues while the system sleeps.
  init() {
    let start = ContinuousClock.now
    now = { start.duration(to: .now) }
  }

  init(_ now: @escaping @Sendable () -> Duration) { self.now = now }

  @usableFromInline var nanoseconds: Int64 { Self.nanoseconds(now()) }

  /// When a value that is set at a time expires; ``PolicyNode/never`` for nil and for deadlines too
  /// far away to count, some 290 years.
  @usableFromInline func deadline(_ timeToLive: Duration?, after time: Int64) -> Int64 {
    guard let timeToLive else { return PolicyNode.never }
    let (sum, isTooLarge) = time.addingReportingOverflow(Self.nanoseconds(timeToLive))
    return isTooLarge ? (timeToLive < .zero ? time : PolicyNode.never) : sum
  }

  /// The sum of two times; ``PolicyNode/never`` if it is too large.
  @usableFromInline static func sum(_ time: Int64, _ duration: Int64) -> Int64 {
    let (sum, isTooLarge) = time.addingReportingOverflow(duration)
    return isTooLarge ? PolicyNode.never : sum
  }

  static func nanoseconds(_ duration: Duration) -> Int64 {
    // A `Duration` reaches further than 64-bit nanoseconds; what is beyond becomes the nearest
    // number.
    let (seconds, attoseconds) = duration.components
    let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: nanosecondsInSecond)
    let limit: Int64 = seconds < 0 ? .min : .max
    if isTooLarge { return limit }
    let (sum, isTooLargeSum) = product.addingReportingOverflow(
      attoseconds / attosecondsInNanosecond)
    return isTooLargeSum ? limit : sum
  }
}

// MARK: - The lock of a table

/// A mutex for critical sections of some nanoseconds, and the state that it protects, on cache
/// lines of their own.
///
/// No user code runs while it is held, except keys' `Hashable`. Unlike `Mutex` it isn't handed over
/// to a waiting thread under contention, which would cost a context switch for each critical
/// section.
// Sendable: the state is only touched between acquire and release, so never by two threads at once.
@usableFromInline struct ShortLock<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  /// The largest cache line of the supported processors, in bytes. Two locks in one line would make
  /// their threads wait for each other (false sharing).
  private static var lineSize: Int { 128 }
  /// Where the state begins, behind the lock.
  @inlinable static var stateOffset: Int { 16 }

  @usableFromInline let memory: UnsafeMutableRawPointer

  @usableFromInline init(_ state: consuming State) {
    precondition(MemoryLayout<State>.alignment <= Self.stateOffset, "no state is aligned so widely")
    memory = .allocate(
      byteCount: Self.stateOffset + MemoryLayout<State>.size, alignment: Self.lineSize)
    memory.initializeMemory(as: stead_short_lock.self, to: stead_short_lock())
    (memory + Self.stateOffset).bindMemory(to: State.self, capacity: 1).initialize(to: state)
  }

  deinit {
    (memory + Self.stateOffset).assumingMemoryBound(to: State.self).deinitialize(count: 1)
    memory.deallocate()
  }

  /// Calls `body` with the state while no other thread does.
  @inlinable @inline(__always) func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    let lock = memory.assumingMemoryBound(to: stead_short_lock.self)
    stead_short_lock_acquire(lock)
    defer { stead_short_lock_release(lock) }
    return body(&(memory + Self.stateOffset).assumingMemoryBound(to: State.self).pointee)
  }
}
