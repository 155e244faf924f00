import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct RemovalHandlerTests {
  init() { MemoryPressure.shared.ignoreSystem() }

  @Test func `is called with the reason in order`() {
    let log = RemovalLog()
    let cache = MemoryCache<Int, Int>(countLimit: 1, onRemoval: log.note)
    cache.setValue(1, for: 1)
    cache.setValue(2, for: 1)
    cache.setValue(3, for: 3)
    cache.removeValue(for: 3)
    #expect(
      log.entries == [
        .init(key: 1, value: 1, reason: .replaced), .init(key: 1, value: 2, reason: .evicted),
        .init(key: 3, value: 3, reason: .removed),
      ])
  }

  @Test func `may use the cache`() {
    let box = CacheBox()
    let log = RemovalLog()
    let cache = MemoryCache<Int, Int>(countLimit: 1) { key, value, reason in
      log.note(key, value, reason)
      if key > 0 { box.cache.withLock { $0 }?.setValue(key - 1, for: key - 1) }
    }
    box.cache.withLock { $0 = cache }
    cache.setValue(5, for: 5)
    cache.setValue(9, for: 9)
    box.cache.withLock { $0 = nil }
    // 5 goes for 9, 4 comes and 9 goes, 8 comes and 4 goes, and so on until 0 has gone.
    #expect(log.entries.map(\.key).prefix(4) == [5, 9, 4, 8])
    #expect(cache.count == 1)
  }

  /// The values of one key, from eight threads: the handler sees each exactly once, those of one thread in order.
  @Test func `sees every value of eight threads once and in order`() throws {
    let log = RemovalLog()
    let cache = MemoryCache<Int, Int>(onRemoval: log.note)
    let count = 5_000
    try inThreads(8) { thread in
      for number in 0..<count { cache.setValue(thread * count + number, for: 1) }
    }
    let last = try #require(cache.value(for: 1))
    let seen = log.entries.map(\.value)
    #expect(Set(seen).union([last]).count == 8 * count)
    #expect(seen.count == 8 * count - 1)
    for thread in 0..<8 {
      let own = seen.filter { $0 / count == thread }
      #expect(own == own.sorted())
    }
  }
}

/// A cache that its own handler uses.
private final class CacheBox: Sendable {
  let cache = Mutex<MemoryCache<Int, Int>?>(nil)
}
