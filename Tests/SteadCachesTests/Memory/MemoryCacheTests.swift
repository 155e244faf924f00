import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct MemoryCacheTests {
  init() { MemoryPressure.shared.ignoreSystem() }

  @Test func `returns what was set`() {
    let cache = MemoryCache<String, Int>()
    #expect(cache.value(for: "a") == nil)
    #expect(cache.setValue(1, for: "a"))
    #expect(cache.setValue(2, for: "a"))
    #expect(cache.value(for: "a") == 2)
    #expect(cache.removeValue(for: "a") == 2)
    #expect(cache.removeValue(for: "a") == nil)
    #expect(cache.value(for: "a") == nil)
    #expect(cache.count == 0)
  }

  @Test func `holds many values and finds each`() {
    let cache = MemoryCache<Int, Int>()
    for number in 0..<5_000 { cache.setValue(number, for: number) }
    for number in stride(from: 0, to: 5_000, by: 3) { cache.removeValue(for: number) }
    for number in 0..<5_000 {
      #expect(cache.value(for: number) == (number % 3 == 0 ? nil : number))
    }
    #expect(cache.count == 5_000 - 1_667)
  }

  /// Keys with equal hashes lie one after the other; one that goes must not hide those behind it.
  @Test func `keys with the same hash are told apart`() {
    struct Key: Hashable {
      let number: Int
      func hash(into hasher: inout Hasher) { hasher.combine(number % 2) }
    }
    let cache = MemoryCache<Key, Int>()
    for number in 0..<100 { cache.setValue(number, for: Key(number: number)) }
    for number in stride(from: 0, to: 100, by: 3) { cache.removeValue(for: Key(number: number)) }
    for number in 0..<100 {
      #expect(cache.value(for: Key(number: number)) == (number % 3 == 0 ? nil : number))
    }
  }

  @Test func `remove all leaves nothing`() {
    let log = RemovalLog()
    let cache = MemoryCache<Int, Int>(onRemoval: log.note)
    for number in 0..<100 { cache.setValue(number, for: number, cost: 2) }
    cache.removeAll()
    #expect((cache.count, cache.totalCost) == (0, 0))
    #expect((0..<100).allSatisfy { cache.value(for: $0) == nil })
    #expect(Set(log.entries.map(\.key)) == Set(0..<100))
    #expect(log.entries.allSatisfy { $0.reason == .removed })
    cache.setValue(1, for: 1)
    #expect(cache.value(for: 1) == 1)
  }

  @Test func `counts hits, misses and evictions`() {
    let cache = MemoryCache<Int, Int>(countLimit: 2)
    for number in 0..<5 { cache.setValue(number, for: number) }
    _ = cache.value(for: 4)
    _ = cache.value(for: 4)
    _ = cache.value(for: 9)
    var expected = CacheStatistics()
    (expected.hits, expected.misses, expected.evictions) = (2, 1, 3)
    #expect(cache.statistics == expected)
    cache.resetStatistics()
    #expect(cache.statistics == CacheStatistics())
    _ = cache.value(for: 4)
    #expect(cache.statistics.hits == 1)
  }

  /// A value's deinit is the program's code, which may use the cache: with a lock held it would wait for itself.
  @Test func `values are freed while no lock is held`() {
    final class Owner: Sendable {
      let cache: MemoryCache<Int, Owner>
      init(_ cache: MemoryCache<Int, Owner>) { self.cache = cache }
      deinit { _ = cache.count }
    }
    let cache = MemoryCache<Int, Owner>(countLimit: 2)
    for number in 0..<4 { cache.setValue(Owner(cache), for: number) }
    cache.setValue(Owner(cache), for: 3)
    cache.removeValue(for: 3)
    cache.countLimit = 0
    cache.countLimit = 1
    cache.setValue(Owner(cache), for: 1)
    cache.removeAll()
    #expect(cache.count == 0)
  }

  @Test func `frees its values when it is dropped`() {
    final class Value: Sendable {}
    weak var weakValue: Value?
    do {
      let cache = MemoryCache<Int, Value>()
      let value = Value()
      weakValue = value
      cache.setValue(value, for: 1)
    }
    #expect(weakValue == nil)
  }
}

@Suite(.hangLimit) struct MemoryCacheLimitTests {
  init() { MemoryPressure.shared.ignoreSystem() }

  @Test(arguments: [1, 2, 10, 100])
  func `keeps the count limit and the newest value`(limit: Int) {
    let cache = MemoryCache<Int, Int>(countLimit: limit)
    for number in 0..<1_000 {
      cache.setValue(number, for: number)
      #expect(cache.count == min(number + 1, limit))
      #expect(cache.value(for: number) == number)
    }
  }

  @Test func `keeps the cost limit`() {
    let cache = MemoryCache<Int, Int>(totalCostLimit: 100)
    for number in 0..<1_000 {
      #expect(cache.setValue(number, for: number, cost: number % 101))
      #expect(cache.totalCost <= 100)
      #expect(cache.value(for: number) == number)
    }
  }

  @Test func `a value above the limit is not kept and removes the older one`() {
    let log = RemovalLog()
    let cache = MemoryCache<Int, Int>(totalCostLimit: 10, onRemoval: log.note)
    cache.setValue(1, for: 1, cost: 4)
    cache.setValue(2, for: 2, cost: 4)
    #expect(!cache.setValue(3, for: 1, cost: 11))
    #expect(cache.value(for: 1) == nil)
    #expect(cache.value(for: 2) == 2)
    #expect(
      log.entries == [
        .init(key: 1, value: 1, reason: .replaced), .init(key: 1, value: 3, reason: .evicted),
      ])
  }

  @Test func `a value that becomes dearer makes room for itself`() {
    let cache = MemoryCache<Int, Int>(totalCostLimit: 10)
    for number in 0..<5 { cache.setValue(number, for: number, cost: 2) }
    #expect(cache.setValue(9, for: 0, cost: 10))
    #expect(cache.value(for: 0) == 9)
    #expect((cache.count, cache.totalCost) == (1, 10))
  }

  @Test func `lower limits hold at once`() {
    let cache = MemoryCache<Int, Int>()
    for number in 0..<100 { cache.setValue(number, for: number, cost: 10) }
    cache.totalCostLimit = 500
    #expect((cache.count, cache.totalCost) == (50, 500))
    cache.countLimit = 7
    #expect((cache.count, cache.totalCost) == (7, 70))
    cache.countLimit = -3
    #expect((cache.count, cache.countLimit) == (0, 0))
    #expect(!cache.setValue(1, for: 1))
  }

  @Test func `costs near the greatest number do not overflow`() {
    let cache = MemoryCache<Int, Int>()
    for number in 0..<3 {
      #expect(cache.setValue(number, for: number, cost: .max))
      #expect((cache.count, cache.totalCost) == (1, .max))
    }
    cache.setValue(5, for: 2, cost: -5)
    #expect((cache.count, cache.totalCost) == (1, 0))
  }

  /// What is used often stays, whatever number of values is set once beside it.
  ///
  /// More than can be protected, so that the rest has to win against each new value.
  @Test func `what is used often survives a scan`() {
    let cache = MemoryCache<Int, Int>(countLimit: 100)
    for number in 0..<90 { cache.setValue(number, for: number) }
    for _ in 0..<10 { for number in 0..<90 { _ = cache.value(for: number) } }
    for number in 1_000..<2_000 { cache.setValue(number, for: number) }
    let kept = (0..<90).filter { cache.value(for: $0) != nil }.count
    // Which keys share counters differs from process to process.
    #expect(kept >= 70)
  }

  /// A large value must not drive out many small ones that are used less often each, and more often together.
  @Test func `a large value is weighed against all that would go for it`() {
    let cache = MemoryCache<Int, Int>(totalCostLimit: 1_000)
    for number in 0..<100 { cache.setValue(number, for: number, cost: 10) }
    for number in 0..<100 { _ = cache.value(for: number) }
    for round in 0..<20 { cache.setValue(0, for: 1_000 + round % 2, cost: 500) }
    let kept = (0..<100).filter { cache.value(for: $0) != nil }.count
    #expect(kept == 50)
  }

  /// A thread looks at the limits while eight others change everything.
  @Test func `limits hold under eight threads`() throws {
    let (countLimit, costLimit) = (100, 1_000)
    let log = Tally()
    let sets = Tally()
    let cache = MemoryCache<Int, Int>(countLimit: countLimit, totalCostLimit: costLimit) {
      _, _, _ in
      _ = log.add()
    }
    let running = Tally()
    try inThreads(9) { thread in
      if thread == 8 {
        while running.value < 8 {
          #expect(cache.count <= countLimit)
          #expect(cache.totalCost <= costLimit)
        }
        return
      }
      var random = SplitMix(seed: UInt64(thread))
      for _ in 0..<Effort.times(Effort.isLong ? 20_000 : 10_000) {
        let key = Int.random(in: 0..<500, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: cache.removeValue(for: key)
        case 1..<6:
          cache.setValue(key, for: key, cost: Int.random(in: 0...60, using: &random))
          _ = sets.add()
        default: if let value = cache.value(for: key) { #expect(value == key) }
        }
      }
      _ = running.add()
    }
    // Each value that was set is in the cache or was handed to the handler.
    #expect(sets.value == log.value + cache.count)
    var cost = 0
    cache.removeAll()
    cost = cache.totalCost
    #expect((cache.count, cost) == (0, 0))
    #expect(sets.value == log.value)
  }
}
