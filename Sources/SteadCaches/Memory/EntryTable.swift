import CSteadFiles

/// The keys and values of a part of a memory cache, by their hashes.
///
/// Entries are stored contiguously in memory. 64-bit words refer to them, at least twice as many as there are entries:
/// the upper half of a word is the upper half of the key's hash, the lower half the entry's index plus one, and 0 is a
/// word without an entry. A look-up begins at the word that the hash selects and continues until it finds the key or an
/// empty word.
@usableFromInline struct EntryTable<Key: Hashable, Value>: ~Copyable {
  @usableFromInline struct Entry {
    @usableFromInline let key: Key
    @usableFromInline var value: Value
    @usableFromInline var times: EntryTimes
    /// The entry's node in the policy.
    @usableFromInline let number: Int32
    @usableFromInline let tag: UInt32

    @inlinable init(key: Key, value: Value, times: EntryTimes, number: Int32, tag: UInt32) {
      (self.key, self.value) = (key, value)
      (self.times, self.number, self.tag) = (times, number, tag)
    }
  }

  /// Small, since a cache has a table for each of its many shelves.
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

  /// The place of a key's entry.
  @inlinable func find(_ key: Key, _ hash: UInt64) -> Int? {
    let tag = Self.tag(hash)
    var place = Int(tag) & mask
    while true {
      let word = words[place]
      if word == 0 { return nil }
      if UInt32(truncatingIfNeeded: word >> 32) == tag {
        let entry = Int(word & 0xFFFF_FFFF) - 1
        if entries[entry].key == key { return entry }
      }
      place = (place + 1) & mask
    }
  }

  /// The value of a key, counted, with its use.
  ///
  /// - Parameters:
  ///   - idleTime: For how long a use lets the entry live; ``PolicyNode/never`` if that makes no difference.
  ///   - now: The time; asked only if the entry has a deadline.
  @inlinable mutating func read(
    _ key: Key, _ hash: UInt64, _ counters: UseCounters, idleTime: Int64, now: () -> Int64
  ) -> (value: Value?, isExpired: Bool) {
    guard let place = find(key, hash) else {
      misses += 1
      return (nil, false)
    }
    if entries[place].times.deadline != PolicyNode.never {
      let now = now()
      if entries[place].times.deadline <= now {
        misses += 1
        return (nil, true)
      }
      if idleTime != PolicyNode.never { entries[place].times.noteUse(at: now, idleTime: idleTime) }
    }
    hits += 1
    counters.countUse(entries[place].number)
    return (entries[place].value, false)
  }

  /// The value of a key, neither counted nor recorded.
  @inlinable func peek(_ key: Key, _ hash: UInt64, now: () -> Int64) -> Value? {
    guard let place = find(key, hash) else { return nil }
    let deadline = entries[place].times.deadline
    return deadline == PolicyNode.never || deadline > now() ? entries[place].value : nil
  }
}

// MARK: - Changes

extension EntryTable {
  @inlinable mutating func add(_ entry: consuming Entry) {
    if count == capacity { resize(to: capacity * 2) }
    link(tag: entry.tag, to: count)
    (entries + count).initialize(to: entry)
    count += 1
  }

  /// Sets an entry's value and returns the old one.
  @inlinable mutating func replace(_ value: Value, times: EntryTimes, at place: Int) -> Value {
    var value = value
    swap(&entries[place].value, &value)
    entries[place].times = times
    return value
  }

  @inlinable mutating func remove(at place: Int) -> Entry {
    unlink(tag: entries[place].tag, from: place)
    let entry = (entries + place).move()
    count -= 1
    if place != count {
      // The last entry fills the gap.
      let word = word(tag: entries[count].tag, of: count)
      (entries + place).moveInitialize(from: entries + count, count: 1)
      words[word] = UInt64(entries[place].tag) << 32 | UInt64(place + 1)
    }
    return entry
  }

  /// The place of the entry with a number.
  @inlinable func find(number: Int32, _ hash: UInt64) -> Int? {
    let tag = Self.tag(hash)
    var place = Int(tag) & mask
    while words[place] != 0 {
      let entry = Int(words[place] & 0xFFFF_FFFF) - 1
      if entries[entry].number == number { return entry }
      place = (place + 1) & mask
    }
    return nil
  }

  /// Frees memory that no entries need any more.
  @inlinable mutating func shrink() {
    var wanted = Self.firstCapacity
    while wanted < count { wanted *= 2 }
    if wanted < capacity { resize(to: wanted) }
  }

  @inlinable mutating func resize(to capacity: Int) {
    let larger = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
    larger.moveInitialize(from: entries, count: count)
    entries.deallocate()
    entries = larger
    words.deallocate()
    mask = capacity * 2 - 1
    words = .allocate(capacity: mask + 1)
    words.initialize(repeating: 0, count: mask + 1)
    for place in 0..<count { link(tag: entries[place].tag, to: place) }
  }

  @inlinable func link(tag: UInt32, to entry: Int) {
    var place = Int(tag) & mask
    while words[place] != 0 { place = (place + 1) & mask }
    words[place] = UInt64(tag) << 32 | UInt64(entry + 1)
  }

  /// The word that leads to an entry.
  @inlinable func word(tag: UInt32, of entry: Int) -> Int {
    let wanted = UInt64(tag) << 32 | UInt64(entry + 1)
    var place = Int(tag) & mask
    while words[place] != wanted { place = (place + 1) & mask }
    return place
  }

  /// Clears an entry's word, and moves the words after it that would not be found any more.
  @inlinable func unlink(tag: UInt32, from entry: Int) {
    var gap = word(tag: tag, of: entry)
    var place = (gap + 1) & mask
    while words[place] != 0 {
      let start = Int(words[place] >> 32) & mask
      if (place - start) & mask >= (place - gap) & mask {
        words[gap] = words[place]
        gap = place
      }
      place = (place + 1) & mask
    }
    words[gap] = 0
  }
}

// MARK: - Times

/// The times of an entry, in nanoseconds of the cache's clock.
@usableFromInline struct EntryTimes: Sendable {
  /// When the entry expires; ``PolicyNode/never`` if it doesn't.
  @usableFromInline private(set) var deadline: Int64
  /// When it expires however much it is used.
  @usableFromInline let lastDeadline: Int64
  /// When a request that could load it has it loaded again; ``PolicyNode/never`` if none does, or one has.
  @usableFromInline var refresh: Int64

  @usableFromInline init(lastDeadline: Int64, idleTime: Int64, refresh: Int64, now: Int64) {
    (self.lastDeadline, self.refresh) = (lastDeadline, refresh)
    deadline = lastDeadline
    if idleTime != PolicyNode.never { noteUse(at: now, idleTime: idleTime) }
  }

  @usableFromInline mutating func noteUse(at now: Int64, idleTime: Int64) {
    let (idleDeadline, isTooLarge) = now.addingReportingOverflow(idleTime)
    deadline = min(lastDeadline, isTooLarge ? PolicyNode.never : idleDeadline)
  }
}

/// The time of a memory cache: nanoseconds since some moment.
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

  /// When a value that is set at a time expires; ``PolicyNode/never`` for nil and for deadlines too far away to count,
  /// some 290 years.
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

/// A mutex for work of some nanoseconds, and the state that it protects, in separately allocated memory.
///
/// No user code runs while it is held, except keys' `Hashable`. Unlike `Mutex` it isn't handed from thread to thread
/// under contention, which would cost each of them a context switch.
// Sendable: the state is only touched between acquire and release, so never by two threads at once.
@usableFromInline struct ShortLock<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  /// The most that a line of a processor's cache has on the systems that count; locks in one line would make
  /// their threads wait for each other.
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
