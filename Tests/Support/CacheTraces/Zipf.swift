import Foundation
import SteadTestSupport

/// Numbers of which the first are the most frequent, after Zipf's law.
struct Zipf {
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
