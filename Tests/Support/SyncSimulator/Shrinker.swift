import SteadSyncProtocol

/// Shortens a history that fails to one that still fails.
public enum Shrinker {
  /// The most trials.
  private static let trialLimit = 20_000

  static func shrunk(
    _ steps: [Step], _ violation: Violation, faults: Faults
  ) -> ([Step], Violation) {
    var (best, found, trials) = (steps, violation, 0)
    var size = max(best.count / 2, 1)
    while size >= 1, trials < trialLimit {
      var (start, isShorter) = (0, false)
      while start < best.count, trials < trialLimit {
        trials += 1
        var shorter = best
        shorter.removeSubrange(start..<min(start + size, best.count))
        if let other = Simulation.violation(in: shorter, faults: faults) {
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
