import Foundation

/// Runs the workloads and prints one line for each.
struct Runner {
  let options: Options
  let fixtures: Fixtures

  func run() throws {
    let table = Table()
    table.printHeader(rounds: options.rounds)
    for workload in Workload.all where options.includes(workload.name) {
      try run(workload, table)
    }
    if options.includes(Memory.name) {
      table.printRow(
        name: Memory.name, title: "peak memory of fetch all", limit: Memory.limit,
        samples: try interleaved { try Memory.measure($0, fixtures) }, count: 1 << 20, unit: "MB")
    }
    for access in Access.all where options.includes(access.name) {
      let samples = try (0..<options.rounds).map { _ in try access.measure(fixtures) }
      table.printAccess(access, Sample(samples))
    }
  }

  private func run(_ workload: Workload, _ table: Table) throws {
    let runs = try workload.prepare(fixtures)
    for peer in Peer.allCases { _ = try runs[peer]() }
    table.printRow(
      name: workload.name, title: workload.title, limit: workload.limit,
      samples: try interleaved { try runs[$0]() }, count: workload.count, unit: "ns")
  }

  /// One value of each peer per round, the peers taking turns, so that all see the same machine.
  private func interleaved(_ measure: (Peer) throws -> Double) rethrows -> [Peer: [Double]] {
    var samples: [Peer: [Double]] = [:]
    for _ in 0..<options.rounds {
      for peer in Peer.allCases { samples[peer, default: []].append(try measure(peer)) }
    }
    return samples
  }

  /// Runs Stead's side for a while, for a profiler.
  func profile(_ name: String) throws {
    let end = ContinuousClock.now + .seconds(options.seconds)
    if let workload = Workload.all.first(where: { $0.name == name }) {
      let run = try workload.prepare(fixtures).stead
      while ContinuousClock.now < end { print(try run() / Double(workload.count)) }
    } else if let access = Access.all.first(where: { $0.name == name }) {
      while ContinuousClock.now < end { print(try access.measure(fixtures)) }
    } else {
      throw Options.UsageError()
    }
  }
}

/// The values of one measurement.
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
