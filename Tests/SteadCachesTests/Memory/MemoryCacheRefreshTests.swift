import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Values that are loaded again while the old one is returned.
@Suite(.hangLimit) struct MemoryCacheRefreshTests {
  private struct Failure: Error {}

  /// Loads one number after the other, or fails; the test lets each load go on.
  private final class Source: Sendable {
    private let state = Mutex((count: 0, fails: false))
    var count: Int { state.withLock { $0.count } }
    var fails: Bool {
      get { state.withLock { $0.fails } }
      set { state.withLock { $0.fails = newValue } }
    }

    func next() throws -> Int {
      try state.withLock { state in
        state.count += 1
        if state.fails { throw Failure() }
        return state.count
      }
    }
  }

  private let clock = TestClock()
  private let source = Source()

  private func cache(timeToLive: Duration? = nil) -> MemoryCache<Int, Int> {
    let clock = clock
    return MemoryCache(
      timeToLive: timeToLive, refreshAfter: .seconds(8), now: { clock.now })
  }

  private func get(_ cache: MemoryCache<Int, Int>) async throws -> Int {
    let source = source
    return try await cache.value(for: 0) { try source.next() }
  }

  /// Waits until the cache has a value.
  private func wait(for value: Int, in cache: MemoryCache<Int, Int>) async {
    while cache.value(for: 0) != value { await Task.yield() }
  }

  private func waitForLoads(_ count: Int) async {
    while source.count < count { await Task.yield() }
  }

  // A value was either fresh or gone, so whoever came after its time waited for the load, or got its error.
  @Test func `an old value is returned and loaded again`() async throws {
    let cache = cache()
    #expect(try await get(cache) == 1)
    clock.advance(by: .milliseconds(7_999))
    #expect(try await get(cache) == 1)
    clock.advance(by: .milliseconds(1))
    #expect(source.count == 1)
    #expect(try await get(cache) == 1)
    await wait(for: 2, in: cache)
    #expect(try await get(cache) == 2)
    #expect(source.count == 2)
  }

  @Test func `the old value stays if the load fails`() async throws {
    let cache = cache()
    _ = try await get(cache)
    source.fails = true
    clock.advance(by: .seconds(8))
    // The time may have to pass more often, since a load ends after its count.
    for loads in 2...4 {
      while source.count < loads {
        #expect(try await get(cache) == 1)
        await Task.yield()
        clock.advance(by: .milliseconds(100))
      }
    }
    source.fails = false
    while cache.value(for: 0) == 1 {
      _ = try await get(cache)
      await Task.yield()
      clock.advance(by: .milliseconds(100))
    }
    #expect(cache.value(for: 0) == source.count)
  }

  @Test func `a load that failed is not tried again at once`() async throws {
    let (cache, gate) = (cache(), Gate())
    let source = source
    _ = try await get(cache)
    clock.advance(by: .seconds(8))
    let load: @Sendable () async throws -> Int = {
      defer { gate.open() }
      _ = try source.next()
      throw Failure()
    }
    #expect(try await cache.value(for: 0, orLoad: load) == 1)
    await gate.wait()
    for _ in 0..<100 {
      #expect(try await cache.value(for: 0, orLoad: load) == 1)
      await Task.yield()
    }
    #expect(source.count == 2)
  }

  @Test func `many requests make one load`() async throws {
    let (cache, gate) = (cache(), Gate())
    _ = try await get(cache)
    clock.advance(by: .seconds(9))
    let source = source
    for _ in 0..<50 {
      let value = try await cache.value(for: 0) {
        await gate.wait()
        return try source.next()
      }
      #expect(value == 1)
    }
    gate.open()
    await wait(for: 2, in: cache)
    #expect(source.count == 2)
  }

  @Test(arguments: [false, true])
  func `a value that was set or removed meanwhile stays so`(isSet: Bool) async throws {
    let (cache, gate, end) = (cache(), Gate(), Gate())
    _ = try await get(cache)
    clock.advance(by: .seconds(9))
    _ = try await cache.value(for: 0) {
      await gate.wait()
      defer { end.open() }
      return 77
    }
    if isSet { cache.setValue(5, for: 0) } else { cache.removeValue(for: 0) }
    gate.open()
    await end.wait()
    for _ in 0..<100 { await Task.yield() }
    #expect(cache.value(for: 0) == (isSet ? 5 : nil))
  }

  @Test func `a value still expires`() async throws {
    let cache = cache(timeToLive: .seconds(10))
    #expect(try await get(cache) == 1)
    clock.advance(by: .seconds(10))
    #expect(try await get(cache) == 2)
  }

  @Test func `only a request that could load refreshes`() async throws {
    let cache = cache()
    cache.setValue(7, for: 0)
    clock.advance(by: .seconds(9))
    #expect(cache.value(for: 0) == 7)
    #expect(source.count == 0)
    #expect(try await get(cache) == 7)
    await wait(for: 1, in: cache)
  }
}
