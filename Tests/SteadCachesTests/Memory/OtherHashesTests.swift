import CacheTraces
import SteadTestSupport
import Testing

/// The same requests get the same hits whatever the hashes of their keys are, as they differ between runs.
///
/// The policy estimated how often keys had come, and which estimates were too high depended on the hashes. Of keys that
/// come forwards and backwards by turns a cache answered between 19 and 32 %, of a loop between 0 and 6 %.
@Suite(.hangLimit) struct OtherHashesTests {
  struct Load: Sendable, CustomTestStringConvertible {
    let name: String
    let cacheSize: Int
    /// What is answered at least.
    let least: Double
    var testDescription: String { "\(name), \(cacheSize) values" }

    func requests() throws -> [Int] {
      let length = 20_000
      let variant = Trace.Variant(length: length, cacheSize: cacheSize)
      switch name {
      case "zigzag": return (0..<length).map { abs($0 % 1_000 - 500) }
      case "loop of 1,000": return (0..<length).map { $0 % 1_000 }
      default:
        let traces = Trace.tuned(variant) + Trace.untuned(variant)
        return try #require(traces.first { $0.name == name }).requests
      }
    }
  }

  private static let loads = [
    Load(name: "zigzag", cacheSize: 200, least: 0.375),
    Load(name: "zigzag", cacheSize: 300, least: 0.575),
    Load(name: "loop of 1,000", cacheSize: 100, least: 0.085),
    Load(name: "loop", cacheSize: 400, least: 0.245),
    Load(name: "recent", cacheSize: 200, least: 0.125),
  ]

  @Test(arguments: loads)
  func `other hashes make no difference`(load: Load) async throws {
    let requests = try load.requests()
    let ratios = try await inOwnThread {
      (0..<Effort.times(2, long: 40)).map { number in
        let others = requests.map { $0 + number * 1_000_003 }
        return Trace(name: load.name, title: "", requests: others, cacheSize: load.cacheSize)
          .hitRatioOfMemoryCache()
      }
    }
    #expect(Set(ratios).count == 1, "\(ratios)")
    #expect((ratios.min() ?? 0) > load.least, "\(ratios)")
  }
}
