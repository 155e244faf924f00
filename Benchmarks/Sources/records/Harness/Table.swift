import BenchmarkHarness
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
      "Least of \(rounds) rounds, peers taking turns; [range of the rounds' ratios]. "
        + "Ratios are to SQLite's C interface, of "
        + (Clock.countsProcessorTime ? "processor time.\n" : "time on the clock.\n"))
    printLine(
      ["workload", "", "goal", "stead/sqlite", "grdb/sqlite", "each: s / st / g", "verdict"])
  }

  /// Returns whether the goal was met, as all functions that print a row do.
  func printRow(
    name: String, title: String, limit: Double, samples: [Peer: [Double]], count: Int, unit: String
  ) -> Bool {
    // Other programs make rounds slower, never faster, so the least times tell most.
    func ratio(_ peer: Peer) -> Double {
      Sample(samples[peer] ?? []).least / Sample(samples[.sqlite] ?? []).least
    }
    func text(_ peer: Peer) -> String {
      let rounds = Sample(zip(samples[peer] ?? [], samples[.sqlite] ?? []).map { $0 / $1 })
      return String(format: "%.2f [%.2f-%.2f]", ratio(peer), rounds.least, rounds.greatest)
    }
    let isMet = ratio(.stead) <= limit
    let each = Peer.allCases.filter { samples[$0] != nil }.map { peer in
      let value = Sample(samples[peer] ?? []).least / Double(count)
      return String(format: value < 100 ? "%.1f" : "%.0f", value)
    }
    printLine([
      name, title, String(format: "%.2f", limit), text(.stead), text(.grdb),
      each.joined(separator: " / ") + " " + unit, isMet ? "ok" : "SLOW",
    ])
    return isMet
  }

  func printAccess(_ access: Access, _ sample: Sample) -> Bool {
    let isMet = access.limit.map { sample.least <= $0 } ?? true
    let limit = access.limit.map { String(format: "%.0f ns", $0) } ?? "-"
    let verdict = access.limit.map { _ in isMet ? "ok" : "SLOW" } ?? "-"
    let value = String(
      format: "%.1f ns [to %.1f]", sample.least, sample.greatest)
    printLine([access.name, access.title, limit, value, "-", "", verdict])
    return isMet
  }

  func printGrowth(_ growth: Growth, _ runs: [Growth.Run]) -> Bool {
    let (single, whole) = (Sample(runs.map(\.single)).least, Sample(runs.map(\.whole)).least)
    let isMet = growth.limit.map { single / whole <= $0 } ?? true
    let ratios = Sample(runs.map(\.ratio))
    printLine([
      growth.name, growth.title, growth.limit.map { String(format: "%.2f", $0) } ?? "-",
      String(
        format: "%.2f [%.2f-%.2f] of +=", single / whole, ratios.least, ratios.greatest), "",
      String(format: "%.0f ns", single / Double(Growth.count)),
      growth.limit.map { _ in isMet ? "ok" : "SLOW" } ?? "-",
    ])
    return isMet
  }

  func printOpening(_ opening: Opening, _ sample: Sample) -> Bool {
    let isMet = opening.limit.map { sample.least <= $0 } ?? true
    let limit = opening.limit.map { String(format: "%.0f ms", $0 / 1e6) } ?? "-"
    let verdict = opening.limit.map { _ in isMet ? "ok" : "SLOW" } ?? "-"
    let value = String(
      format: "%.1f ms [to %.1f]", sample.least / 1e6, sample.greatest / 1e6)
    printLine([opening.name, opening.title, limit, value, "-", "", verdict])
    return isMet
  }
}
