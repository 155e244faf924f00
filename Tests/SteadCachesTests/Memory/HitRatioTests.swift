import CacheTraces
import Testing

/// `Scripts/plot-hit-ratios` prints the figures; here only what must not be lost.
@Suite(.hangLimit) struct HitRatioTests {
  private static let length = 100_000
  private static let traces = Trace.tuned(Trace.Variant(length: length))
  /// Where what was used last is used again first LRU is right from the start, and the window's share has to be
  /// learned.
  private static let learned: Set = ["recent", "reuse"]

  @Test(arguments: traces.map(\.name))
  func isAboveLRUAndBelowTheOptimum(name: String) throws {
    let trace = try #require(Self.traces.first { $0.name == name })
    let ratio = trace.hitRatioOfMemoryCache()
    let lru = PlainPolicy.lru.hitRatio(trace)
    if !Self.learned.contains(name) { #expect(ratio > lru, "\(ratio), LRU \(lru)") }
    #expect(ratio <= PlainPolicy.optimal.hitRatio(trace))
  }

  /// The policy's constants were chosen with another seed, and with a part of these traces.
  @Test(arguments: [1, 2] as [UInt64])
  func isAboveLRUWithOtherSeeds(seed: UInt64) {
    let variant = Trace.Variant(length: Self.length / 2, seed: seed)
    for trace in Trace.tuned(variant) + Trace.untuned(variant)
    where !Self.learned.contains(trace.name) {
      let ratio = trace.hitRatioOfMemoryCache()
      let lru = PlainPolicy.lru.hitRatio(trace)
      #expect(ratio > lru + 0.01, "\(trace.name): \(ratio), LRU \(lru)")
    }
  }

  /// Every policy's hits on six requests, counted by hand.
  @Test func theOtherPoliciesAreWhatTheyAreCalled() {
    let trace = Trace(name: "", title: "", requests: [1, 2, 1, 3, 1, 2], cacheSize: 2)
    #expect(PlainPolicy.lru.hitRatio(trace) == 2.0 / 6)
    #expect(PlainPolicy.fifo.hitRatio(trace) == 1.0 / 6)
    #expect(PlainPolicy.optimal.hitRatio(trace) == 2.0 / 6)
  }
}
