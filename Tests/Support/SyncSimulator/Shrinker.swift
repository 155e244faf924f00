import SteadSyncProtocol

/// Shortens a history that fails to one that still fails.
package enum Shrinker {
  /// The most trials.
  private static let trialLimit = 20_000

  /// A shorter history, with its violation. It may be another one than that of the longer history.
  package static func shrunk(
    _ steps: [Step], _ violation: Violation, fault: SimulatedFault? = nil
  ) -> ([Step], Violation) {
    var (best, found, trials) = (steps, violation, 0)
    var size = max(best.count / 2, 1)
    while size >= 1, trials < trialLimit {
      var (start, isShorter) = (0, false)
      while start < best.count, trials < trialLimit {
        trials += 1
        var shorter = best
        shorter.removeSubrange(start..<min(start + size, best.count))
        if let other = Simulation.violation(in: shorter, fault: fault) {
          (best, found, isShorter) = (shorter, other, true)
        } else {
          start += size
        }
      }
      if !isShorter || size > 1 { size /= 2 }
    }
    return (best, found)
  }
}
