import BenchmarkHarness
import Foundation

/// What is printed: a table for each measure, then its targets.
struct Report {
  private let data: FileHandle?

  init(dataPath: String?) throws {
    guard let dataPath else {
      data = nil
      return
    }
    guard FileManager.default.createFile(atPath: dataPath, contents: nil),
      let file = FileHandle(forWritingAtPath: dataPath)
    else { throw UsageError() }
    data = file
  }

  func printHeader(_ options: Options) {
    Swift.print(
      "Medians of \(options.common.rounds) rounds, peers taking turns, each run in a process of its own; "
        + "[least]. Ratios are taken within a round. "
        + (options.common.countsProcessorTime ? "Processor time." : "Time on the clock."))
  }

  func print(_ measure: Measure, _ samples: [Figure: [Double]]) {
    Swift.print("\n\(measure.name): \(measure.title)")
    printLine([""] + measure.peers.map(\.title))
    for keys in measure.sizes {
      for (value, title) in measure.values.sorted(by: { $0.key < $1.key }) {
        var cells = [[keys == 0 ? "" : "\(keys.grouped) keys", title].joined(separator: " ")]
        for peer in measure.peers {
          let figure = Figure(task: measure.task, value: value, peer: peer, keys: keys)
          let sample = samples[figure].map(Sample.init)
          cells.append(sample.map { text($0, measure.unit) } ?? "-")
          if let sample { write(figure, sample, measure.unit) }
        }
        printLine(cells)
      }
    }
  }

  /// Returns whether the target was met.
  func print(_ check: Check, _ samples: [Figure: [Double]]) -> Bool {
    var values = samples[check.figure] ?? []
    if let base = check.base { values = zip(values, samples[base] ?? []).map { $0 / $1 } }
    let sample = Sample(values)
    let isMet = sample.median <= check.limit
    func text(_ value: Double) -> String {
      switch value {
      case 1_000..<1e15: Int(value).grouped
      case 1e-15..<0.01: "1/\(Int(1 / value).grouped)"
      default: String(format: "%.2f", value)
      }
    }
    let range = "[\(text(sample.least)) to \(text(sample.greatest))]"
    printLine(
      [
        check.title, text(sample.median), range, "limit \(text(check.limit))",
        isMet ? "ok" : "MISSED",
      ])
    return isMet
  }

  private func printLine(_ cells: [String]) {
    let line = cells.enumerated().map { column, cell in
      cell.padding(toLength: max(column == 0 ? 42 : 22, cell.count), withPad: " ", startingAt: 0)
    }
    Swift.print("  " + line.joined(separator: " "))
    // Lines must not wait in a buffer for a run that takes minutes.
    fflush(nil)
  }

  private func text(_ sample: Sample, _ unit: Measure.Unit) -> String {
    switch unit {
    case .time: "\(timeText(sample.median)) [\(timeText(sample.least))]"
    case .bytes: "\(Int(sample.median).grouped) [\(Int(sample.least).grouped)] bytes"
    }
  }

  private func write(_ figure: Figure, _ sample: Sample, _ unit: Measure.Unit) {
    let line = [
      figure.task.rawValue, figure.value, figure.peer.rawValue, String(figure.keys),
      String(format: "%.1f", sample.median), String(format: "%.1f", sample.least),
      unit == .time ? "ns" : "bytes",
    ]
    data?.write(Data((line.joined(separator: "\t") + "\n").utf8))
  }
}
