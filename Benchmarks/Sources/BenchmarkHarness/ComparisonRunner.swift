import Foundation

/// Runs comparisons and prints each as soon as it is known.
package struct ComparisonRunner {
  let options: BenchmarkOptions
  let directory: URL

  package init(options: BenchmarkOptions, directory: URL) {
    self.options = options
    self.directory = directory
  }

  /// Returns whether all limits were kept.
  package func run(_ comparisons: [Comparison]) throws -> Bool {
    print(
      "Medians of \(options.rounds) rounds [least to greatest]; ratios are taken within a round.")
    var isMet = true
    for (number, measure) in comparisons.enumerated() where options.includes(measure.name) {
      let place = directory.appendingPathComponent("\(number)")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      isMet = report(measure, try samples(measure, in: place)) && isMet
    }
    return isMet
  }

  /// The peers' times, one a round each.
  private func samples(_ measure: Comparison, in place: URL) throws -> [(
    name: String, times: [Double]
  )] {
    let peers = try measure.prepare(place)
    // The first calls load what the others find loaded.
    for peer in peers { _ = try peer.run() }
    var times = [[Double]](repeating: [], count: peers.count)
    for round in 0..<options.rounds {
      // Peers take turns within a round, and every other round in the opposite order.
      let order = Array(peers.indices)
      for index in round.isMultiple(of: 2) ? order : order.reversed() {
        times[index].append(try peers[index].run())
      }
    }
    return zip(peers, times).map { ($0.name, $1) }
  }

  private func report(_ measure: Comparison, _ samples: [(name: String, times: [Double])]) -> Bool {
    print("\n\(measure.name)  \(measure.title)")
    for (name, times) in samples {
      let sample = Sample(times)
      print(
        "  \(name.padding(toLength: 12, withPad: " ", startingAt: 0))\(timeText(sample.median))  "
          + "[\(timeText(sample.least)) to \(timeText(sample.greatest))]")
    }
    var isMet = true
    if samples.count > 1 {
      let ratio = Sample(zip(samples[0].times, samples[1].times).map { $0 / $1 })
      func text(_ value: Double) -> String { String(format: value < 0.1 ? "%.5f" : "%.2f", value) }
      var line =
        "  ratio       \(text(ratio.median))  [\(text(ratio.least)) to \(text(ratio.greatest))]"
      if case .ratio(let limit) = measure.limit {
        isMet = ratio.median <= limit
        line += "  limit \(text(limit))  \(isMet ? "ok" : "MISSED")"
      }
      print(line)
    } else if case .time(let limit) = measure.limit {
      isMet = Sample(samples[0].times).median <= limit
      print("  limit       \(timeText(limit))  \(isMet ? "ok" : "MISSED")")
    }
    // Lines must not wait in a buffer for a run that takes minutes.
    fflush(nil)
    return isMet
  }
}
