/// The values of one measurement, one a round.
struct Sample {
  let median: Double
  let least: Double
  let greatest: Double

  init(_ values: [Double]) {
    let sorted = values.sorted()
    median = sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    least = sorted.first ?? .nan
    greatest = sorted.last ?? .nan
  }
}
