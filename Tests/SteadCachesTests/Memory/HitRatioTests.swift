import CacheTraces
import SteadTestSupport
import Testing

/// `Scripts/plot-hit-ratios` prints the figures; here only what must not be lost.
@Suite(.hangLimit) struct HitRatioTests {
  private static let length = Effort.isLong ? 500_000 : 40_000
  private static let traces = Trace.tuned(Trace.Variant(length: length))
  /// Where what was used last is used again first LRU is right from the start, and the window's share has to be
  /// learned.
  private static let learned: Set = ["recent", "reuse"]

  @Test(arguments: traces.map(\.name))
  func isAboveLRUAndBelowTheOptimum(name: String) async throws {
    let trace = try #require(Self.traces.first { $0.name == name })
    let (ratio, lru, optimum) = try await inOwnThread {
      (
        trace.hitRatioOfMemoryCache(), PlainPolicy.lru.hitRatio(trace),
        PlainPolicy.optimal.hitRatio(trace)
      )
    }
    if !Self.learned.contains(name) { #expect(ratio > lru, "\(ratio), LRU \(lru)") }
    #expect(ratio <= optimum)
  }

  /// The policy's constants were chosen with another seed, and with a part of these traces.
  @Test(arguments: 1...UInt64(Effort.times(1)))
  func isAboveLRUWithOtherSeeds(seed: UInt64) async throws {
    let variant = Trace.Variant(length: 50_000, seed: seed)
    let losses = try await inOwnThread {
      (Trace.tuned(variant) + Trace.untuned(variant)).compactMap { trace -> String? in
        if Self.learned.contains(trace.name) { return nil }
        let (ratio, lru) = (trace.hitRatioOfMemoryCache(), PlainPolicy.lru.hitRatio(trace))
        return ratio > lru + 0.005 ? nil : "\(trace.name): \(ratio), LRU \(lru)"
      }
    }
    #expect(losses == [])
  }

  /// Every policy's hits on six requests, counted by hand.
  @Test func theOtherPoliciesAreWhatTheyAreCalled() {
    let trace = Trace(name: "", title: "", requests: [1, 2, 1, 3, 1, 2], cacheSize: 2)
    #expect(PlainPolicy.lru.hitRatio(trace) == 2.0 / 6)
    #expect(PlainPolicy.fifo.hitRatio(trace) == 1.0 / 6)
    #expect(PlainPolicy.optimal.hitRatio(trace) == 2.0 / 6)
  }
}
