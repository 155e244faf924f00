import CSteadFiles
import Foundation
import Synchronization

/// Keeps values in memory, as long as its limits have room and the values are worth it.
///
/// ```swift
/// let images = MemoryCache<URL, Image>(totalCostLimit: 64 << 20, timeToLive: .seconds(600))
/// let image = try await images.value(for: url, cost: \.byteCount) { try await load(url) }
/// ```
///
/// The limits hold at every moment, whatever other threads do: values are removed before others are
/// added. W-TinyLFU decides which of them go; it keeps frequently used values and gives new ones a
/// chance. Documentation/Caches.md compares its hit ratios with others'. The last set value is
/// always kept, unless it costs more than the limit.
///
/// A read costs about as much as that of a dictionary behind a lock, and threads that read
/// different keys seldom wait for each other. A change costs some ten times as much, and changes
/// wait for each other. Both take constant time. An entry takes 130 to 240 bytes besides its key
/// and value, an empty cache some 10 KB.
///
/// Expired values are never returned. They leave the cache when they are requested, and otherwise
/// at the first change 0.13 s or more after their time; no timer runs meanwhile.
///
/// It isn't for values that must stay: any value may be evicted. For values that outlive the
/// program use ``DiskCache``, or ``LayeredCache`` for both; for objects and `NSCache`'s methods,
/// ``ObjectCache``.
///
/// The locks belong to threads: in the child of a fork the cache must not be used.
///
/// How it works: entries are in up to 256 shards by their keys' hashes, each an ``EntryTable``
/// behind a ``ShortLock``. One ``EvictionPolicy`` behind the lock of `control` decides what stays,
/// and knows entries by number. A read only acquires its shard's lock and counts the use
/// (``UseCounters``); the policy applies the counted uses when it needs room. A change acquires the
/// control lock, and within it those of the shards.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// Called with a value that has left the cache, and why.
  public typealias RemovalHandler =
    @Sendable (
      _ key: Key, _ value: Value, _ reason: RemovalReason
    ) -> Void

  /// A part of the entries with a lock of its own.
  @usableFromInline typealias Shard = ShortLock<EntryTable<Key, Value>>
  @usableFromInline typealias Removals = RemovedEntries<Key, Value>

  /// More shards than threads can run, so that two of them seldom need the same one.
  private static var shardsPerProcessor: Int { 16 }
  private static var shardLimit: Int { 256 }

  /// State that one thread changes at a time. A shard's lock may be acquired while this one is
  /// held, not the reverse.
  @usableFromInline struct Control: ~Copyable {
    // Behind a pointer, since the compiler (6.3) fails for inlined code that holds such a value
    // itself.
    @usableFromInline let policy: UnsafeMutablePointer<EvictionPolicy>
    /// The entries with which the handler has not been called yet, in order.
    @usableFromInline var removed: [Removals.Entry] = []
    /// Whether a thread is calling the handler.
    var isDelivering = false
    /// The shards' hits when the statistics were reset.
    var hitsAtReset = 0
    var missesAtReset = 0

    init(_ counters: UseCounters) {
      policy = .allocate(capacity: 1)
      policy.initialize(to: EvictionPolicy(counters))
    }

    deinit {
      policy.deinitialize(count: 1)
      policy.deallocate()
    }
  }

  /// How long a value is returned after it was set, unless ``setValue(_:for:cost:timeToLive:)`` is
  /// called with another time; nil for values that do not expire.
  public let timeToLive: Duration?
  /// How long a value is returned after it was last set or returned (`expireAfterAccess` of other
  /// caches); nil if use makes no difference. A value also expires after its time to live, however
  /// much it is used.
  ///
  /// Each read then reads the clock, too.
  public let timeToIdle: Duration?
  /// After which time ``value(for:cost:timeToLive:orLoad:)`` loads a value again in the background,
  /// while it returns the old one (`refreshAfterWrite` of other caches); nil for never.
  ///
  /// Only a request for the value has it loaded again, once for all requests. If the load throws,
  /// the error is dropped and the old value stays; a request after another eighth of this time
  /// tries again. Values still expire after their time to live, so that is usually longer.
  public let refreshAfter: Duration?

  @usableFromInline let idleTime: Int64
  @usableFromInline let refreshTime: Int64

  @usableFromInline let control: ShortLock<Control>
  // Safe: neither the pointer nor the mask changes before deinit, and a shard's lock guards its
  // contents.
  @usableFromInline nonisolated(unsafe) let shards: UnsafeMutablePointer<Shard>
  @usableFromInline let shardMask: Int
  @usableFromInline let counters: UseCounters
  @usableFromInline let clock: CacheClock
  @usableFromInline let onRemoval: RemovalHandler?
  let loads = SingleFlight<Key, Loaded>()
  private let subscription = Mutex<MemoryPressure.Subscription?>(nil)

  /// Makes an empty cache.
  ///
  /// - Parameters:
  ///   - countLimit: The maximum number of values; negative numbers are 0, which keeps nothing.
  ///   - totalCostLimit: The maximum sum of the values' costs, in units of your choice, such as
  ///     bytes.
  ///   - timeToLive: How long a value is returned after it was set; nil for forever.
  ///   - timeToIdle: How long a value is returned after it was last set or returned; nil for
  ///     forever.
  ///   - refreshAfter: After which time a requested value is loaded again in the background; nil
  ///     for never.
  ///   - respondsToMemoryPressure: Whether values are dropped while the system is short of memory:
  ///     half of them and of their cost when programs wait for memory 0.2 s within 2 s, all when
  ///     every program of the group, or of the system, waits at once for 0.1 s. On Linux this needs
  ///     pressure stall information (version 6.5, or `CAP_SYS_RESOURCE`), for the process's control
  ///     group or for the system. If neither is available, nothing happens.
  ///   - onRemoval: Called with each value that leaves the cache, and with those that it did not
  ///     keep, in the order in which they left. No lock is held meanwhile, so it may use the cache.
  ///     It is called before the call that removed the value returns, unless it is already running:
  ///     then the thread that runs it calls it again. Values that wait for a slow handler are in
  ///     memory beyond the limits. It is not called for the cache's contents when the cache itself
  ///     is dropped.
  public convenience init(
    countLimit: Int = .max, totalCostLimit: Int = .max, timeToLive: Duration? = nil,
    timeToIdle: Duration? = nil, refreshAfter: Duration? = nil,
    respondsToMemoryPressure: Bool = true, onRemoval: RemovalHandler? = nil
  ) {
    self.init(
      countLimit: countLimit, totalCostLimit: totalCostLimit, timeToLive: timeToLive,
      timeToIdle: timeToIdle, refreshAfter: refreshAfter,
      pressure: respondsToMemoryPressure ? .shared : nil, clock: CacheClock(), onRemoval: onRemoval)
  }

  /// - Parameter now: The time since some moment; it never goes back.
  package convenience init(
    countLimit: Int = .max, totalCostLimit: Int = .max, timeToLive: Duration? = nil,
    timeToIdle: Duration? = nil, refreshAfter: Duration? = nil,
    onRemoval: RemovalHandler? = nil, now: @escaping @Sendable () -> Duration
  ) {
    self.init(
      countLimit: countLimit, totalCostLimit: totalCostLimit, timeToLive: timeToLive,
      timeToIdle: timeToIdle, refreshAfter: refreshAfter,
      pressure: nil, clock: CacheClock(now), onRemoval: onRemoval)
  }

  init(
    countLimit: Int = .max, totalCostLimit: Int = .max, timeToLive: Duration? = nil,
    timeToIdle: Duration? = nil, refreshAfter: Duration? = nil, pressure: MemoryPressure?,
    clock: CacheClock = CacheClock(), onRemoval: RemovalHandler? = nil
  ) {
    (self.timeToLive, self.clock, self.onRemoval) = (timeToLive, clock, onRemoval)
    (self.timeToIdle, self.refreshAfter) = (timeToIdle, refreshAfter)
    idleTime = timeToIdle.map(CacheClock.nanoseconds) ?? PolicyNode.never
    refreshTime = refreshAfter.map(CacheClock.nanoseconds) ?? PolicyNode.never
    let processors = ProcessInfo.processInfo.activeProcessorCount
    // A power of 2, for the mask.
    var shardCount = 1
    while shardCount < min(processors * Self.shardsPerProcessor, Self.shardLimit) {
      shardCount *= 2
    }
    shardMask = shardCount - 1
    shards = .allocate(capacity: shardCount)
    for number in 0..<shardCount { (shards + number).initialize(to: ShortLock(EntryTable())) }
    let counters = UseCounters()
    self.counters = counters
    control = ShortLock(Control(counters))
    // Through the setters, which replace negative numbers.
    self.countLimit = countLimit
    self.totalCostLimit = totalCostLimit
    if let pressure {
      // Weak: a subscription must not keep the cache alive.
      let subscription = pressure.subscribe { [weak self] level in self?.respond(to: level) }
      self.subscription.withLock { $0 = subscription }
    }
  }

  deinit {
    shards.deinitialize(count: shardMask + 1)
    shards.deallocate()
    counters.deallocate()
  }
}

// MARK: - Values

extension MemoryCache {
  /// Returns the value for a key; nil if there is none, or if it has expired.
  ///
  /// ```swift
  /// if let image = images.value(for: url) { show(image) }
  /// ```
  ///
  /// Counts as a use, as a hit or a miss, and extends the time to idle. Acquires the lock of one
  /// shard.
  @inlinable public func value(for key: Key) -> Value? {
    let hash = Self.hash(key)
    let shard = Int(truncatingIfNeeded: hash) & shardMask
    let (value, isExpired) = shards[shard].withLock { table in
      // Only the shard's lock: the policy learns of the use when it needs room.
      table.read(key, hash, counters, idleTime: idleTime, now: { clock.nanoseconds })
    }
    // After the shard's lock is released, since a removal acquires the control lock first.
    if isExpired { removeExpired(key, hash) }
    return value
  }

  /// The cache's contents, including expired values; without counting or recording a use.
  var contents: [(key: Key, value: Value)] {
    (0...shardMask).flatMap { number in
      shards[number].withLock { table in
        (0..<table.count).map { (table.entries[$0].key, table.entries[$0].value) }
      }
    }
  }

  /// Sets the value for a key, and returns whether the cache keeps it.
  ///
  /// ```swift
  /// images.setValue(image, for: url, cost: image.byteCount)
  /// ```
  ///
  /// Other values are removed to make room. A value is not kept if it costs more than
  /// ``totalCostLimit``, if ``countLimit`` is 0 or if its time to live is not above zero. An older
  /// value of the key is removed then, too.
  ///
  /// - Parameters:
  ///   - cost: What the value costs, in the units of ``totalCostLimit``; negative numbers are 0.
  ///   - timeToLive: How long the value is returned; nil for the cache's ``timeToLive``. One that
  ///     goes beyond 290 years is for ever.
  @discardableResult @inlinable public func setValue(
    _ value: Value, for key: Key, cost: Int = 1, timeToLive: Duration? = nil
  ) -> Bool {
    let (removed, isKept) = store(value, key, cost: cost, timeToLive: timeToLive)
    finish(removed)
    return isKept
  }

  /// Removes the value for a key, and returns it; nil if there was none, or if it had expired.
  ///
  /// A load for the key that is running goes on for its callers, and its value isn't set.
  @discardableResult @inlinable public func removeValue(for key: Key) -> Value? {
    let (removed, value) = take(key)
    finish(removed)
    return value
  }

  /// Removes the value for a key; the caller passes what was removed to ``finish(_:)`` once no lock
  /// is held.
  @inlinable func take(_ key: Key) -> (removed: Removals, value: Value?) {
    let hash = Self.hash(key)
    return control.withLock { control -> (Removals, Value?) in
      var removed = Removals()
      var value: Value?
      let now = prepare(&control, &removed)
      // `prepare` leaves what has expired within the current tick, which must not be returned
      // either.
      if let found = number(of: key, hash) {
        let isExpired =
          found.deadline != PolicyNode.never && found.deadline <= now ?? clock.nanoseconds
        let entry = remove(found.number, hash, isExpired ? .expired : .removed, &control, &removed)
        value = isExpired ? nil : entry
      }
      // Also if no value was found: a load that began before this call must not set one after it.
      removed.forgotten = cancelKeeping(key)
      enqueue(&removed, &control)
      return (removed, value)
    }
  }

  /// Removes all values, frees their memory, and forgets how often they were used. Loads that are
  /// running have no effect.
  public func removeAll() {
    let removed = control.withLock { control in
      var removed = Removals()
      // One by one, since the handler gets each.
      while let number = control.policy.pointee.coldest() {
        remove(number, control.policy.pointee.hash(of: number), .removed, &control, &removed)
      }
      control.policy.pointee.removeAll()
      shrink()
      removed.forgotten = loads.forgetAll()
      enqueue(&removed, &control)
      return removed
    }
    finish(removed)
  }

  /// Removes the values that expired 0.13 s or longer ago.
  ///
  /// They are never returned, whether this is called or not; call it to free their memory sooner
  /// than the next change would.
  public func removeExpired() {
    let removed = control.withLock { control in
      var removed = Removals()
      _ = prepare(&control, &removed)
      enqueue(&removed, &control)
      return removed
    }
    finish(removed)
  }

  // MARK: - Limits and statistics

  /// The maximum number of values that the cache holds; `Int.max` for no limit.
  ///
  /// Lowering the limit removes values immediately. Negative numbers are 0, which keeps nothing. No
  /// cache holds more than 2,147,483,647 values.
  public var countLimit: Int {
    get { control.withLock { $0.policy.pointee.limits.count } }
    set { setLimits { $0.count = max(0, newValue) } }
  }

  /// The maximum sum of the values' costs; `Int.max` for no limit.
  ///
  /// Lowering the limit removes values immediately. Negative numbers are 0.
  public var totalCostLimit: Int {
    get { control.withLock { $0.policy.pointee.limits.cost } }
    set { setLimits { $0.cost = max(0, newValue) } }
  }

  /// How many values the cache holds, including expired ones that have not been requested since.
  ///
  /// Acquires the control lock. Under concurrent changes the number may be outdated when it is
  /// returned.
  public var count: Int { control.withLock { $0.policy.pointee.count } }

  /// The sum of the costs of the values that the cache holds.
  ///
  /// It includes expired values like ``count``, and is never above ``totalCostLimit``.
  public var totalCost: Int { control.withLock { $0.policy.pointee.cost } }

  /// What the cache has done since it was made, or since ``resetStatistics()``.
  ///
  /// Hits and misses are those of ``value(for:)`` and of ``value(for:cost:timeToLive:orLoad:)``,
  /// one for each call.
  ///
  /// Acquires the locks of all shards, one after the other, so don't call it for each request.
  public var statistics: CacheStatistics {
    control.withLock { control in
      var statistics = CacheStatistics()
      statistics.evictions = control.policy.pointee.evictionCount
      // The shards' own counts never go back: the policy measures the hit ratio by their
      // differences.
      statistics.hits = hits - control.hitsAtReset
      statistics.misses = misses - control.missesAtReset
      return statistics
    }
  }

  /// Resets the counts of ``statistics`` to zero.
  public func resetStatistics() {
    control.withLock { control in
      control.policy.pointee.resetEvictionCount()
      (control.hitsAtReset, control.missesAtReset) = (hits, misses)
    }
  }

  private func setLimits(_ change: (inout EvictionPolicy.Limits) -> Void) {
    let removed = control.withLock { control in
      var removed = Removals()
      _ = prepare(&control, &removed)
      // Under the lock under which values are added: none is added between the change and the
      // eviction.
      change(&control.policy.pointee.limits)
      let nothing = EvictionPolicy.Demand(count: 0, cost: 0)
      makeRoom(for: nothing, keeping: PolicyNode.none, .evicted, &control, &removed)
      enqueue(&removed, &control)
      return removed
    }
    finish(removed)
  }

  /// Drops expired entries, and then the coldest, until the level's share of entries and of their
  /// cost is left.
  func respond(to level: MemoryPressure.Level) {
    let removed = control.withLock { control in
      var removed = Removals()
      _ = prepare(&control, &removed)
      let count = level.keptPart(of: control.policy.pointee.count)
      // By the contents and not by the limits: a cache without limits has to give memory back, too.
      let cost = level.keptPart(of: control.policy.pointee.cost)
      while control.policy.pointee.count > count || control.policy.pointee.cost > cost,
        let number = control.policy.pointee.coldest()
      {
        remove(number, control.policy.pointee.hash(of: number), .pressure, &control, &removed)
      }
      shrink()
      enqueue(&removed, &control)
      return removed
    }
    finish(removed)
  }
}

// MARK: - Removal reasons

/// Why a value left a memory cache.
///
/// Later versions may add reasons, so a `switch` needs a `default`.
public struct RemovalReason: Hashable, Sendable, CustomStringConvertible {
  private enum Name { case replaced, removed, expired, evicted, pressure }

  private let name: Name
  private init(_ name: Name) { self.name = name }

  /// Another value was set for its key.
  public static let replaced = RemovalReason(.replaced)
  /// The program removed it, or all values.
  public static let removed = RemovalReason(.removed)
  /// Its time to live was over.
  public static let expired = RemovalReason(.expired)
  /// A limit had no room for it.
  public static let evicted = RemovalReason(.evicted)
  /// The system was short of memory.
  public static let pressure = RemovalReason(.pressure)

  /// The reason's name, for logs and metrics.
  public var description: String { "\(name)" }
}
