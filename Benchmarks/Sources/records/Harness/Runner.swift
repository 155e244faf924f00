import BenchmarkHarness
import Foundation

/// Runs the workloads and prints one line for each.
struct Runner {
  let options: Options
  let fixtures: Fixtures

  /// Returns the names of the measures that missed their goals.
  func run() throws -> [String] {
    let table = Table()
    table.printHeader(rounds: options.common.rounds)
    var missed: [String] = []
    func note(_ name: String, _ isMet: Bool) { if !isMet { missed.append(name) } }
    for workload in Workload.all where options.common.includes(workload.name) {
      note(workload.name, try run(workload, table))
    }
    if options.common.includes(Memory.name) {
      let isMet = table.printRow(
        name: Memory.name, title: "peak memory of fetch all", limit: Goals.memory,
        samples: try interleaved { try Memory.measure($0, fixtures) }, count: 1 << 20, unit: "MB")
      note(Memory.name, isMet)
    }
    for access in Access.all where options.common.includes(access.name) {
      let samples = try (0..<options.common.rounds).map { _ in try access.measure(fixtures) }
      note(access.name, table.printAccess(access, Sample(samples)))
    }
    for opening in Opening.all where options.common.includes(opening.name) {
      let samples = try (0..<options.common.rounds).map { _ in try opening.measure(fixtures) }
      note(opening.name, table.printOpening(opening, Sample(samples)))
    }
    for growth in Growth.all where options.common.includes(growth.name) {
      _ = try growth.measure()
      let runs = try (0..<options.common.rounds).map { _ in try growth.measure() }
      note(growth.name, table.printGrowth(growth, runs))
    }
    return missed
  }

  private func run(_ workload: Workload, _ table: Table) throws -> Bool {
    let runs = try workload.prepare(fixtures)
    let peers = Peer.allCases.filter { options.peers.contains($0) }
    for peer in peers { _ = try runs[peer]() }
    return table.printRow(
      name: workload.name, title: workload.title, limit: workload.limit,
      samples: try interleaved { try runs[$0]() }, count: workload.count, unit: "ns")
  }

  /// One value of each peer per round, the peers taking turns, so that all see the same machine.
  private func interleaved(_ measure: (Peer) throws -> Double) rethrows -> [Peer: [Double]] {
    var samples: [Peer: [Double]] = [:]
    for _ in 0..<options.common.rounds {
      for peer in Peer.allCases where options.peers.contains(peer) {
        samples[peer, default: []].append(try measure(peer))
      }
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
    } else if let growth = Growth.all.first(where: { $0.name == name }) {
      while ContinuousClock.now < end { print(try growth.measure().ratio) }
    } else {
      throw UsageError()
    }
  }
}
