import SteadSyncProtocol
import SteadTestSupport
import SyncSimulator
import Testing

@Suite struct SimulationTests {
  /// I0 to I15 at every step. `Scripts/sync-simulate` runs more, in release.
  @Test(arguments: 0..<10)
  func `Random histories keep all invariants`(tenth: UInt64) {
    let count = UInt64(Effort.times(8, long: 200))
    for seed in (tenth * count)..<(tenth * count + count) {
      let steps = History.steps(seed: seed)
      guard let violation = Simulation.violation(in: steps) else { continue }
      let (shorter, found) = Shrinker.shrunk(steps, violation)
      Issue.record("Seed \(seed): \(found)\n\(shorter.map(\.description).joined(separator: "\n"))")
    }
  }

  /// I16.
  @Test func `Two runs of a seed are equal to the byte`() {
    for seed in UInt64(1)...10 {
      let steps = History.steps(seed: seed)
      #expect(steps == History.steps(seed: seed))
      let first = Simulation.result(of: steps, traces: true)
      #expect(first.digest == Simulation.result(of: steps, traces: true).digest)
      #expect(
        first.digest != Simulation.result(of: History.steps(seed: seed + 1), traces: true).digest)
    }
  }

  @Test func `Histories reach each kind of answer, refusal and merge`() {
    var tally: [String: Int] = [:]
    for seed in UInt64(1)...300 {
      let result = Simulation.result(of: History.steps(seed: seed), tallies: true)
      tally.merge(result.tally, uniquingKeysWith: +)
    }
    let events = [
      "changes page", "changes expired", "changes rollback", "push taken", "push gap",
      "push expired",
      "push rollback", "push blobsMissing", "push schemaWanted", "push schemaTooOld",
      "server forgot",
      "note began", "note ended", "note edited", "note dropped", "note merged", "note renamed",
      "note repaired", "refused quota", "refused denied", "refused follows",
    ]
    for event in events { #expect(tally[event] ?? 0 > 0, "\(event) never happened.") }
  }

  @Test func `A fault of the server is found, and its history shortened`() throws {
    let fault = SimulatedFault.cursorSkipsARecord
    let (steps, violation) = try #require(
      (UInt64(1)...300).lazy.map(History.steps).compactMap { steps in
        Simulation.violation(in: steps, fault: fault).map { (steps, $0) }
      }.first)
    let (shorter, found) = Shrinker.shrunk(steps, violation, fault: fault)
    #expect(shorter.count <= 25)
    // A record is missing, or the server's pages contradict one another.
    #expect([1, 10].contains(found.invariant), "\(found)")
    // What is printed can be run again, and fails for the fault's sake alone.
    let printed = shorter.map(\.description)
    let again = printed.compactMap { Step($0) }
    #expect(again == shorter)
    #expect(Simulation.violation(in: again, fault: fault)?.invariant == found.invariant)
    #expect(Simulation.violation(in: again) == nil)
  }
}
