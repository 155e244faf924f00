import CacheTraces
import SteadTestSupport
import Testing

/// `Scripts/plot-hit-ratios` prints the figures; here only what must not be lost.
@Suite(.hangLimit) struct HitRatioTests {
  private static let length = Effort.isLong ? 500_000 : 40_000
  private static let variant = Trace.Variant(length: length)
  private static let traces = Trace.tuned(variant) + Trace.untuned(variant)
  /// Where what was used last is used again first LRU is right from the start, and the window's share has to be
  /// learned.
  private static let learned: Set = ["recent", "reuse"]
  /// What is answered at least: the hit ratios are the same in each run. The long ones are those of
  /// Documentation/Caches.md.
  private static let least: [String: Double] =
    Effort.isLong
    ? [
      "zipf-0.7": 0.257, "zipf-0.8": 0.368, "zipf-0.9": 0.500, "zipf-1.0": 0.635, "zipf-1.1": 0.757,
      "scans": 0.397, "loop": 0.638, "loop-zipf": 0.375, "shifting": 0.373, "recent": 0.312,
      "drifting": 0.486, "halves": 0.491, "tight-loop": 0.923, "bursts": 0.395, "reuse": 0.751,
      "phases": 0.462,
    ]
    : [
      "zipf-0.7": 0.215, "zipf-0.8": 0.322, "zipf-0.9": 0.454, "zipf-1.0": 0.590, "zipf-1.1": 0.720,
      "scans": 0.364, "loop": 0.562, "loop-zipf": 0.330, "shifting": 0.406, "recent": 0.094,
      "drifting": 0.448, "halves": 0.404, "tight-loop": 0.811, "bursts": 0.350, "reuse": 0.687,
      "phases": 0.454,
    ]

  @Test(arguments: traces.map(\.name))
  func `each trace has the hits that it had, fewer than the optimum's`(name: String) async throws {
    let trace = try #require(Self.traces.first { $0.name == name })
    let (ratio, lru, optimum) = try await inOwnThread {
      (
        trace.hitRatioOfMemoryCache(), PlainPolicy.lru.hitRatio(trace),
        PlainPolicy.optimal.hitRatio(trace)
      )
    }
    #expect(try ratio > #require(Self.least[name]))
    // In the long run LRU is a little better where other keys become popular after 20 requests for each value.
    let isBehind = Self.learned.contains(name) || (Effort.isLong && name == "shifting")
    if !isBehind { #expect(ratio > lru, "\(ratio), LRU \(lru)") }
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
