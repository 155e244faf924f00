import Foundation

/// The report: one line a workload, each printed as soon as it is known.
struct Table {
  private static let widths = [17, 52, 7, 22, 22, 20, 8]

  private func printLine(_ cells: [String]) {
    let padded = zip(cells, Self.widths).map { cell, width in
      cell.padding(toLength: max(width, cell.count), withPad: " ", startingAt: 0)
    }
    print(padded.joined(separator: " "))
    // Lines must not wait in a buffer for a run that takes minutes.
    fflush(nil)
  }

  func printHeader(rounds: Int) {
    print(
      "Medians of \(rounds) rounds, peers taking turns; [least-greatest]. "
        + "Ratios are to SQLite's C interface, of "
        + (Clock.countsProcessorTime ? "processor time.\n" : "time on the clock.\n"))
    printLine(
      ["workload", "", "limit", "stead/sqlite", "grdb/sqlite", "each: s / st / g", "verdict"])
  }

  func printRow(
    name: String, title: String, limit: Double, samples: [Peer: [Double]], count: Int, unit: String
  ) {
    func ratio(_ peer: Peer) -> Sample {
      Sample(zip(samples[peer] ?? [], samples[.sqlite] ?? []).map { $0 / $1 })
    }
    let stead = ratio(.stead)
    let each = Peer.allCases.map { peer in
      let value = Sample(samples[peer] ?? []).median / Double(count)
      return String(format: value < 100 ? "%.1f" : "%.0f", value)
    }
    printLine([
      name, title, String(format: "%.2f", limit), Self.text(stead), Self.text(ratio(.grdb)),
      each.joined(separator: " / ") + " " + unit, stead.median <= limit ? "ok" : "SLOW",
    ])
  }

  func printAccess(_ access: Access, _ sample: Sample) {
    let limit = access.limit.map { String(format: "%.0f ns", $0) } ?? "-"
    let verdict = access.limit.map { sample.median <= $0 ? "ok" : "SLOW" } ?? "-"
    let value = String(
      format: "%.1f ns [%.1f-%.1f]", sample.median, sample.least, sample.greatest)
    printLine([access.name, access.title, limit, value, "-", "", verdict])
  }

  private static func text(_ sample: Sample) -> String {
    String(format: "%.2f [%.2f-%.2f]", sample.median, sample.least, sample.greatest)
  }
}
