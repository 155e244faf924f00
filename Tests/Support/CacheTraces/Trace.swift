import Foundation
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

  private static let keyCount = 50_000
  private static let size = 1_000
  private static let seed: UInt64 = 20_251

  /// All traces.
  ///
  /// - Parameter length: How many requests each has.
  package static func all(length: Int) -> [Trace] {
    let exponents = [0.7, 0.8, 0.9, 1.0, 1.1]
    return exponents.map { zipf($0, length) } + [
      scans(length), loop(length), mixedLoop(length), shifting(length), recent(length),
    ]
  }

  private static func zipf(_ exponent: Double, _ length: Int) -> Trace {
    var random = SplitMix(seed: seed)
    let keys = Zipf(keyCount, exponent)
    return Trace(
      name: "zipf-\(exponent)", title: "Zipf \(exponent), 50,000 keys",
      requests: (0..<length).map { _ in keys.next(using: &random) }, cacheSize: size)
  }

  /// A scan of 2,000 keys that never come again, after every 8,000 requests.
  private static func scans(_ length: Int) -> Trace {
    var random = SplitMix(seed: seed)
    let keys = Zipf(keyCount, 0.9)
    var next = keyCount
    let requests = (0..<length).map { place -> Int in
      guard place % 10_000 >= 8_000 else { return keys.next(using: &random) }
      next += 1
      return next
    }
    return Trace(
      name: "scans", title: "Zipf 0.9 with scans of 2,000 keys", requests: requests, cacheSize: size
    )
  }

  private static func loop(_ length: Int) -> Trace {
    Trace(
      name: "loop", title: "a loop over 1,500 keys", requests: (0..<length).map { $0 % 1_500 },
      cacheSize: size)
  }

  /// Loops of 3,000 keys, one of them at a time, beside a Zipf distribution.
  private static func mixedLoop(_ length: Int) -> Trace {
    var random = SplitMix(seed: seed)
    let keys = Zipf(keyCount, 1.0)
    let requests = (0..<length).map { place in
      place % 2 == 0 ? keys.next(using: &random) : keyCount + (place / 2) % 3_000
    }
    return Trace(
      name: "loop-zipf", title: "a loop over 3,000 keys and Zipf 1.0 by turns", requests: requests,
      cacheSize: size)
  }

  /// Every 20,000 requests other keys are the popular ones.
  private static func shifting(_ length: Int) -> Trace {
    var random = SplitMix(seed: seed)
    let keys = Zipf(keyCount, 0.9)
    let requests = (0..<length).map { place in
      (keys.next(using: &random) + place / 20_000 * 7_919) % keyCount
    }
    return Trace(
      name: "shifting", title: "Zipf 0.9, other popular keys every 20,000 requests",
      requests: requests, cacheSize: size)
  }

  /// New keys all the time; half of the requests are for one of the newest 2,000, newer ones more often.
  private static func recent(_ length: Int) -> Trace {
    var random = SplitMix(seed: seed)
    let ages = Zipf(2_000, 0.6)
    var newest = 0
    let requests = (0..<length).map { _ -> Int in
      if Bool.random(using: &random) {
        newest += 1
        return newest
      }
      return newest - ages.next(using: &random)
    }
    return Trace(
      name: "recent", title: "new keys, and the newest 2,000 again", requests: requests,
      cacheSize: size)
  }
}

/// Numbers of which the first are the most frequent, after Zipf's law.
private struct Zipf {
  /// The shares of all numbers until each one.
  private let sums: [Double]

  init(_ count: Int, _ exponent: Double) {
    var sum = 0.0
    let weights = (1...count).map { rank -> Double in
      sum += 1 / pow(Double(rank), exponent)
      return sum
    }
    sums = weights.map { $0 / sum }
  }

  func next(using random: inout SplitMix) -> Int {
    let share = Double.random(in: 0..<1, using: &random)
    var (low, high) = (0, sums.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] <= share { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
