import Testing

/// A process may end at any moment of a transfer. Source and destination together then hold every item at
/// least once, and after the next run the destination holds it exactly once.
struct TransferKillTests {
  @Test(arguments: ["preferences", "records", "history", "table"])
  func `loses and doubles nothing`(workload: String) throws {
    let seed = Effort.seed
    var (places, phases) = (KilledTransfer.Places(), Set<String>())
    // 60 kills, in a new directory now and then, since receipts grow.
    for round in 0..<Effort.times(3, long: 40) {
      var transfer = try KilledTransfer(workload, seed: seed + UInt64(round))
      for _ in 0..<20 { try transfer.killAndFinish() }
      places.source += transfer.places.source
      places.both += transfer.places.both
      places.destination += transfer.places.destination
      phases.formUnion(transfer.phases.keys)
    }
    // The kills have met what they were meant to meet.
    #expect(places.source > 0 && places.both > 0 && places.destination > 0, "\(places) \(seed)")
    #expect(
      phases.isSuperset(of: ["reading", "converting", "writing", "verifying", "removing"]),
      "\(phases) \(seed)")
  }
}
