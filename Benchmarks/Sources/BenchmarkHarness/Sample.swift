/// The values of one measurement, one a round.
package struct Sample {
  package let median: Double
  package let least: Double
  package let greatest: Double

  package init(_ values: [Double]) {
    let sorted = values.sorted()
    median = sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    least = sorted.first ?? .nan
    greatest = sorted.last ?? .nan
  }
}
