import SteadTestSupport

extension Trace {
  /// Traces that the policy's constants were not chosen with.
  package static func untuned(_ variant: Variant) -> [Trace] {
    [
      drifting(variant), halves(variant), tightLoop(variant), bursts(variant), reuse(variant),
      phases(variant),
    ]
  }

  /// One of the 1,000 most popular keys after the other changes places with any key, at random.
  private static func drifting(_ variant: Variant) -> Trace {
    var random = variant.random
    let ranks = Zipf(keyCount, 0.9)
    var keys = Array(0..<keyCount)
    let requests = (0..<variant.length).map { place -> Int in
      if place % 200 == 199 {
        keys.swapAt(
          Int.random(in: 0..<1_000, using: &random), Int.random(in: 0..<keyCount, using: &random))
      }
      return keys[ranks.next(using: &random)]
    }
    return Trace(
      name: "drifting", title: "Zipf 0.9, another popular key every 200 requests",
      requests: requests, cacheSize: variant.cacheSize)
  }

  private static func halves(_ variant: Variant) -> Trace {
    var random = variant.random
    let keys = Zipf(keyCount, 0.9)
    let requests = (0..<variant.length).map { place in
      keys.next(using: &random) + (place < variant.length / 2 ? 0 : keyCount)
    }
    return Trace(
      name: "halves", title: "Zipf 0.9, all keys new from the middle on", requests: requests,
      cacheSize: variant.cacheSize)
  }

  private static func tightLoop(_ variant: Variant) -> Trace {
    let keyCount = variant.cacheSize + variant.cacheSize / 20
    return Trace(
      name: "tight-loop", title: "a loop over 5 % more keys than the cache holds",
      requests: (0..<variant.length).map { variant.firstKey + $0 % keyCount },
      cacheSize: variant.cacheSize)
  }

  /// Now and then a burst of up to 3,000 requests, four fifths of them for keys that never come again.
  private static func bursts(_ variant: Variant) -> Trace {
    var random = variant.random
    let keys = Zipf(keyCount, 0.9)
    var next = keyCount
    var rest = 0
    let requests = (0..<variant.length).map { _ -> Int in
      if rest == 0, Int.random(in: 0..<5_000, using: &random) == 0 {
        rest = Int.random(in: 1...3_000, using: &random)
      }
      guard rest > 0 else { return keys.next(using: &random) }
      rest -= 1
      guard Int.random(in: 0..<5, using: &random) > 0 else { return keys.next(using: &random) }
      next += 1
      return next
    }
    return Trace(
      name: "bursts", title: "Zipf 0.9 with bursts of keys that come once", requests: requests,
      cacheSize: variant.cacheSize)
  }

  /// A fifth are new keys, the others those of one of the last 5,000 requests, later ones more often.
  private static func reuse(_ variant: Variant) -> Trace {
    var random = variant.random
    let ages = Zipf(5_000, 0.8)
    var newest = 0
    var requests: [Int] = []
    for place in 0..<variant.length {
      let age = ages.next(using: &random)
      if age < place, Int.random(in: 0..<5, using: &random) > 0 {
        requests.append(requests[place - 1 - age])
      } else {
        newest += 1
        requests.append(newest)
      }
    }
    return Trace(
      name: "reuse", title: "new keys, and those of the last 5,000 requests again",
      requests: requests, cacheSize: variant.cacheSize)
  }

  /// By turns what other traces have all the time.
  private static func phases(_ variant: Variant) -> Trace {
    let parts = [
      zipf(0.9, variant).requests, reuse(variant).requests.map { $0 + 2 * keyCount },
      loop(variant).requests.map { $0 - variant.firstKey + keyCount },
    ]
    let requests = (0..<variant.length).map { parts[$0 / 50_000 % parts.count][$0] }
    return Trace(
      name: "phases", title: "Zipf 0.9, reuse and a loop, 50,000 requests each by turns",
      requests: requests, cacheSize: variant.cacheSize)
  }
}
