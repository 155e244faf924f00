import Foundation
import Synchronization

/// Keeps values in memory, as long as its limits have room and the values are worth it.
///
/// ```swift
/// let images = MemoryCache<URL, Image>(totalCostLimit: 64 << 20, timeToLive: .seconds(600))
/// let image = try await images.value(for: url, cost: \.byteCount) { try await load(url) }
/// ```
///
/// The limits hold at every moment, whatever other threads do: values are removed before others are added. W-TinyLFU
/// decides which of them go; it keeps frequently used values and gives new ones a chance. Documentation/Caches.md
/// compares its hit ratios with others'. The last set value is always kept, unless it costs more than the limit.
///
/// A read costs about as much as that of a dictionary behind a lock, and threads that read different keys seldom wait
/// for each other. A change costs some ten times as much, and changes wait for each other. Both take constant time. An
/// entry takes 130 to 240 bytes besides its key and value, an empty cache some 10 KB.
///
/// Expired values are never returned. They leave the cache when they are requested, and otherwise at the first change
/// 0.13 s or more after their time; no timer runs meanwhile.
///
/// The locks belong to threads: in the child of a fork the cache must not be used.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// Called with a value that has left the cache, and why.
  public typealias RemovalHandler =
    @Sendable (
      _ key: Key, _ value: Value, _ reason: RemovalReason
    ) -> Void

  /// A part of the entries, with its own lock.
  @usableFromInline typealias Shelf = ShortLock<EntryTable<Key, Value>>
  @usableFromInline typealias Removed = RemovedEntries<Key, Value>

  private static var shelvesPerProcessor: Int { 16 }
  private static var shelfLimit: Int { 256 }

  /// State that only one thread changes at a time. A shelf's lock may be acquired while this one is held, not the
  /// reverse.
  @usableFromInline struct Control: ~Copyable {
    // Behind a pointer, since the compiler (6.3) fails for inlined code that holds such a value itself.
    @usableFromInline let policy: UnsafeMutablePointer<EvictionPolicy>
    /// What the handler has not been called with yet, in order.
    @usableFromInline var removed: [Removed.Entry] = []
    /// Whether some thread calls the handler at the moment.
    var isDelivering = false
    /// The shelves' hits when the statistics were set to zero.
    var forgottenHits = 0
    var forgottenMisses = 0

    init(_ counters: UseCounters) {
      policy = .allocate(capacity: 1)
      policy.initialize(to: EvictionPolicy(counters))
    }

    deinit {
      policy.deinitialize(count: 1)
      policy.deallocate()
    }
  }

  /// How long a value is returned after it was set, unless ``setValue(_:for:cost:timeToLive:)`` is called with another
  /// time; nil for values that do not expire.
  public let timeToLive: Duration?
  /// How long a value is returned after it was last set or returned (`expireAfterAccess` of other caches); nil if use
  /// makes no difference. A value also expires after its time to live, however much it is used.
  ///
  /// A read costs a look at the clock then.
  public let timeToIdle: Duration?
  /// After which time ``value(for:cost:timeToLive:orLoad:)`` loads a value again in the background, while it returns the
  /// old one (`refreshAfterWrite` of other caches); nil for never.
  ///
  /// Only a request for the value has it loaded again, once for all requests. If the load throws, the error is dropped
  /// and the old value stays; a request after another eighth of this time tries again. Values still expire after their
  /// time to live, so that is usually longer.
  public let refreshAfter: Duration?

  @usableFromInline let idleTime: Int64
  @usableFromInline let refreshTime: Int64

  @usableFromInline let control: ShortLock<Control>
  // Neither the pointer nor the mask changes before deinit, and a shelf's lock guards its contents.
  @usableFromInline nonisolated(unsafe) let shelves: UnsafeMutablePointer<Shelf>
  @usableFromInline let shelfMask: Int
  @usableFromInline let counters: UseCounters
  @usableFromInline let clock: CacheClock
  @usableFromInline let onRemoval: RemovalHandler?
  let flights = SingleFlight<Key, Loaded>()
  private let subscription = Mutex<MemoryPressure.Subscription?>(nil)

  /// Makes an empty cache.
  ///
  /// - Parameters:
  ///   - countLimit: The maximum number of values; negative numbers are 0, which keeps nothing.
  ///   - totalCostLimit: The maximum sum of the values' costs, in units of your choice, such as bytes.
  ///   - timeToLive: How long a value is returned after it was set; nil for forever.
  ///   - timeToIdle: How long a value is returned after it was last set or returned; nil for forever.
  ///   - refreshAfter: After which time a requested value is loaded again in the background; nil for never.
  ///   - respondsToMemoryPressure: Whether values are dropped while the system is short of memory: half of them and of
  ///     their cost when programs wait for memory 0.2 s within 2 s, all when every program of the group, or of the system, waits at once for 0.1 s. On Linux
  ///     this needs pressure stall information (version 6.5, or `CAP_SYS_RESOURCE`), for the process's control group or
  ///     for the system. If neither is available, nothing happens.
  ///   - onRemoval: Called with each value that leaves the cache, and with those that it did not keep, in the order in
  ///     which they left. No lock is held meanwhile, so it may use the cache. It is called before the call that removed
  ///     the value returns, unless it is already running: then the thread that runs it calls it again. Values that wait
  ///     for a slow handler are in memory beyond the limits. It is not called for the cache's contents when the cache
  ///     itself is dropped.
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
    var shelfCount = 1
    while shelfCount < min(processors * Self.shelvesPerProcessor, Self.shelfLimit) {
      shelfCount *= 2
    }
    shelfMask = shelfCount - 1
    shelves = .allocate(capacity: shelfCount)
    for number in 0..<shelfCount { (shelves + number).initialize(to: ShortLock(EntryTable())) }
    let counters = UseCounters()
    self.counters = counters
    control = ShortLock(Control(counters))
    self.countLimit = countLimit
    self.totalCostLimit = totalCostLimit
    if let pressure {
      let subscription = pressure.subscribe { [weak self] level in self?.respond(to: level) }
      self.subscription.withLock { $0 = subscription }
    }
  }

  deinit {
    shelves.deinitialize(count: shelfMask + 1)
    shelves.deallocate()
    counters.deallocate()
  }
}
