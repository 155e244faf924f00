import CachesTestSupport
import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Loads that run while a key is set: what they return must not be kept over it.
@Suite(.hangLimit) struct LoadRaceTests {
  private struct Cache: Sendable {
    let set: @Sendable (Int) -> Void
    let remove: @Sendable () -> Void
    let get: @Sendable () -> Int?
    let load: @Sendable (_ body: @escaping @Sendable () async -> Int) async -> Void
  }

  /// Sets a value while others load another one. Loads that began before the set are not kept over it, and those that
  /// begin later find what was set.
  private func check(rounds: Int, _ cache: Cache) async {
    for round in 0..<Effort.times(rounds) {
      cache.remove()
      await withTaskGroup { group in
        group.addTask {
          for _ in 0..<round % 7 { await Task.yield() }
          cache.set(round)
        }
        for _ in 0..<3 {
          group.addTask {
            await cache.load {
              for _ in 0..<round % 3 { await Task.yield() }
              return -1
            }
          }
        }
      }
      #expect(cache.get() == round, "round \(round)")
    }
  }

  @Test func `in memory`() async {
    let cache = MemoryCache<Int, Int>(respondsToMemoryPressure: false)
    await check(
      rounds: Effort.isLong ? 20_000 : 2_000,
      Cache(
        set: { cache.setValue($0, for: 1) }, remove: { cache.removeValue(for: 1) },
        get: { cache.value(for: 1) }, load: { _ = try? await cache.value(for: 1, orLoad: $0) }))
  }

  @Test func `on disk`() async throws {
    let fixture = try CacheFixture()
    let cache = fixture.cache()
    await check(
      rounds: Effort.isLong ? 1_000 : 300,
      Cache(
        set: { cache.setValue($0, for: "a") }, remove: { cache.removeValue(for: "a") },
        get: { cache.value(Int.self, for: "a") },
        load: { _ = try? await cache.value(for: "a", orLoad: $0) }))
  }

  @Test func `in layers`() async throws {
    let fixture = try CacheFixture()
    let (disk, memory) = (fixture.cache(), MemoryPressure.shared)
    memory.ignoreSystem()
    let cache = LayeredCache<Int>(over: disk)
    await check(
      rounds: Effort.isLong ? 1_000 : 300,
      Cache(
        set: { cache.setValue($0, for: "a") }, remove: { cache.removeValue(for: "a") },
        get: { disk.value(Int.self, for: "a") },
        load: { _ = try? await cache.value(for: "a", orLoad: $0) }))
  }
}
