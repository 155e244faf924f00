import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct MemoryCacheLoadingTests {
  init() { MemoryPressure.shared.ignoreSystem() }

  private struct Failure: Error {}

  @Test func `loads what is missing and keeps it`() async throws {
    let cache = MemoryCache<Int, Int>(totalCostLimit: 10)
    #expect(try await cache.value(for: 1, cost: { $0 }, orLoad: { 7 }) == 7)
    #expect(try await cache.value(for: 1, orLoad: { throw Failure() }) == 7)
    #expect(cache.totalCost == 7)
    #expect((cache.statistics.hits, cache.statistics.misses) == (1, 1))
  }

  @Test func `a thousand calls load once`() async throws {
    let cache = MemoryCache<Int, Int>()
    let loads = Tally()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<1_000 {
        group.addTask {
          try await cache.value(for: 1) {
            await Task.yield()
            return loads.add()
          }
        }
      }
      for try await value in group { #expect(value == 1) }
    }
    #expect(loads.value == 1)
  }

  @Test func `errors are not kept`() async throws {
    let cache = MemoryCache<Int, Int>()
    await #expect(throws: Failure.self) {
      try await cache.value(for: 1, orLoad: { throw Failure() })
    }
    #expect(try await cache.value(for: 1, orLoad: { 2 }) == 2)
  }

  @Test(arguments: ["set", "remove", "removeAll"])
  func `what is loaded does not replace a later change`(change: String) async throws {
    let cache = MemoryCache<Int, Int>()
    let (began, hold) = (Gate(), Gate())
    let load = Task {
      try await cache.value(for: 1) {
        began.open()
        await hold.wait()
        return 1
      }
    }
    await began.wait()
    switch change {
    case "set": cache.setValue(2, for: 1)
    case "remove": cache.removeValue(for: 1)
    default: cache.removeAll()
    }
    hold.open()
    #expect(try await load.value == 1)
    #expect(cache.value(for: 1) == (change == "set" ? 2 : nil))
  }

  @Test func `a loaded value expires`() async throws {
    let clock = TestClock()
    let cache = MemoryCache<Int, Int>(timeToLive: .seconds(9), now: { clock.now })
    _ = try await cache.value(for: 1, timeToLive: .seconds(1), orLoad: { 1 })
    clock.advance(by: .seconds(1))
    #expect(try await cache.value(for: 1, orLoad: { 2 }) == 2)
    clock.advance(by: .seconds(8))
    #expect(try await cache.value(for: 1, orLoad: { 3 }) == 2)
  }

  @Test func `the handler is called for what a load drives out`() async throws {
    let log = RemovalLog()
    let cache = MemoryCache<Int, Int>(countLimit: 1, onRemoval: log.note)
    cache.setValue(1, for: 1)
    _ = try await cache.value(for: 2, orLoad: { 2 })
    #expect(log.entries == [.init(key: 1, value: 1, reason: .evicted)])
  }
}
