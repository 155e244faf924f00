import SteadTestSupport

/// Requests for keys in an order that a seed repeats.
package struct Trace: Sendable {
  package let name: String
  /// What the requests are like, for a table.
  package let title: String
  package let requests: [Int]
  /// How many entries a cache has for it.
  package let cacheSize: Int

  package init(name: String, title: String, requests: [Int], cacheSize: Int) {
    (self.name, self.title) = (name, title)
    (self.requests, self.cacheSize) = (requests, cacheSize)
  }

  /// What the traces of a kind differ in.
  package struct Variant: Sendable {
    /// With this one and caches of ``usualSize`` the policy's constants were chosen.
    package static let usualSeed: UInt64 = 20_251
    package static let usualSize = 1_000

    package let length: Int
    package let seed: UInt64
    package let cacheSize: Int

    package init(length: Int, seed: UInt64 = usualSeed, cacheSize: Int = usualSize) {
      (self.length, self.seed, self.cacheSize) = (length, seed, cacheSize)
    }

    var random: SplitMix { SplitMix(seed: seed) }
    /// Sets the keys of a loop apart from those of another seed, since nothing in it is random but their hashes.
    var firstKey: Int { Int(truncatingIfNeeded: seed &- Self.usualSeed) }
  }

  static let keyCount = 50_000

  /// The traces with which the policy's constants were chosen.
  package static func tuned(_ variant: Variant) -> [Trace] {
    let exponents = [0.7, 0.8, 0.9, 1.0, 1.1]
    return exponents.map { zipf($0, variant) } + [
      scans(variant), loop(variant), mixedLoop(variant), shifting(variant), recent(variant),
    ]
  }

  static func zipf(_ exponent: Double, _ variant: Variant) -> Trace {
    var random = variant.random
    let keys = Zipf(keyCount, exponent)
    return Trace(
      name: "zipf-\(exponent)", title: "Zipf \(exponent), 50,000 keys",
      requests: (0..<variant.length).map { _ in keys.next(using: &random) },
      cacheSize: variant.cacheSize)
  }

  /// A scan of 2,000 keys that never come again, after every 8,000 requests.
  private static func scans(_ variant: Variant) -> Trace {
    var random = variant.random
    let keys = Zipf(keyCount, 0.9)
    var next = keyCount
    let requests = (0..<variant.length).map { place -> Int in
      guard place % 10_000 >= 8_000 else { return keys.next(using: &random) }
      next += 1
      return next
    }
    return Trace(
      name: "scans", title: "Zipf 0.9 with scans of 2,000 keys", requests: requests,
      cacheSize: variant.cacheSize
    )
  }

  static func loop(_ variant: Variant) -> Trace {
    Trace(
      name: "loop", title: "a loop over 1,500 keys",
      requests: (0..<variant.length).map { variant.firstKey + $0 % 1_500 },
      cacheSize: variant.cacheSize)
  }

  /// Loops of 3,000 keys, one of them at a time, beside a Zipf distribution.
  private static func mixedLoop(_ variant: Variant) -> Trace {
    var random = variant.random
    let keys = Zipf(keyCount, 1.0)
    let requests = (0..<variant.length).map { place in
      place % 2 == 0 ? keys.next(using: &random) : keyCount + (place / 2) % 3_000
    }
    return Trace(
      name: "loop-zipf", title: "a loop over 3,000 keys and Zipf 1.0 by turns", requests: requests,
      cacheSize: variant.cacheSize)
  }

  /// Every 20,000 requests other keys are the popular ones.
  private static func shifting(_ variant: Variant) -> Trace {
    var random = variant.random
    let keys = Zipf(keyCount, 0.9)
    let requests = (0..<variant.length).map { place in
      (keys.next(using: &random) + place / 20_000 * 7_919) % keyCount
    }
    return Trace(
      name: "shifting", title: "Zipf 0.9, other popular keys every 20,000 requests",
      requests: requests, cacheSize: variant.cacheSize)
  }

  /// New keys all the time; half of the requests are for one of the newest 2,000, newer ones more often.
  private static func recent(_ variant: Variant) -> Trace {
    var random = variant.random
    let ages = Zipf(2_000, 0.6)
    var newest = 0
    let requests = (0..<variant.length).map { _ -> Int in
      if Bool.random(using: &random) {
        newest += 1
        return newest
      }
      return newest - ages.next(using: &random)
    }
    return Trace(
      name: "recent", title: "new keys, and the newest 2,000 again", requests: requests,
      cacheSize: variant.cacheSize)
  }
}
