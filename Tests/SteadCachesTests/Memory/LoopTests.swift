import CacheTraces
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Keys that come again in the order in which they came: LRU has none of them when they are asked for.
@Suite(.hangLimit) struct LoopTests {
  private static func ratio(_ keyCount: Int, cacheSize: Int, firstKey: Int = 0) -> Double {
    let requests = (0..<30_000).map { firstKey + $0 % keyCount }
    return Trace(name: "", title: "", requests: requests, cacheSize: cacheSize)
      .hitRatioOfMemoryCache()
  }

  // Of two keys with the same frequency the older one was evicted once both had been seen twice: of a loop over 1,000
  // keys a cache of 512 answered 29 to 37 %, and other policies 49 %.
  @Test(arguments: [(1_000, 512, 0.46), (1_000, 256, 0.235), (1_000, 768, 0.67), (300, 200, 0.62)])
  func `a loop that does not fit is kept in part`(
    keyCount: Int, cacheSize: Int, least: Double
  ) async throws {
    let ratio = try await inOwnThread { Self.ratio(keyCount, cacheSize: cacheSize) }
    #expect(ratio > least)
    #expect(ratio <= Double(cacheSize) / Double(keyCount))
  }

  /// The hashes of other keys are other ones, and so are those of other runs.
  @Test func `other hashes make no difference to a loop`() async throws {
    let ratios = try await inOwnThread {
      (0..<Effort.times(5)).map {
        Self.ratio(1_000, cacheSize: 512, firstKey: $0 * 1_000_003)
      }
    }
    #expect(Set(ratios).count == 1, "\(ratios)")
  }

  /// Loops of any length, in caches of any size: a part of the loop is answered that is in proportion to the cache.
  @Test(arguments: 0..<UInt64(Effort.times(12)))
  func `any loop is kept in part`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let cacheSize = Int.random(in: 50...400, using: &random)
    let keyCount = cacheSize + Int.random(in: cacheSize / 20...cacheSize * 2, using: &random)
    let ratio = try await inOwnThread { Self.ratio(keyCount, cacheSize: cacheSize) }
    #expect(
      ratio > 0.78 * Double(cacheSize) / Double(keyCount),
      "\(ratio): \(keyCount) keys, \(cacheSize)"
    )
  }
}
