import SteadSyncProtocol

/// A fault that is planted into the protocol, to see whether a simulation finds it.
public struct Mutant: Hashable, Sendable, CustomStringConvertible {
  public let name: String
  /// The invariants that it breaks.
  public let invariants: Set<Int>
  let faults: Faults

  private init(_ name: String, _ faults: Faults, _ invariants: Set<Int>) {
    self.name = name
    self.faults = faults
    self.invariants = invariants
  }

  public var description: String { name }

  public static let all = [
    Mutant("no-dedupe", .noDedupe, [6]),
    Mutant("gap-in-seq", .gapInSeq, [1, 10]),
    Mutant("purge-without-horizon", .purgeWithoutHorizon, [1, 5, 10, 12]),
    Mutant("no-repair", .noRepair, [1, 7]),
    Mutant("no-unique", .noUnique, [2]),
    Mutant("no-clamp", .noClamp, [9]),
    Mutant("no-hybrid-clock", .noHybridClock, [8]),
    Mutant("no-marks", .noMarks, [0, 1, 10, 12]),
    Mutant("arrival-wins", .arrivalWins, [1, 4]),
    Mutant("update-resurrects", .updateResurrects, [1, 5]),
  ]

  /// The first history that finds it, with its seed.
  public func firstCaught(upTo limit: UInt64) -> (
    seed: UInt64, steps: [Step], violation: Violation
  )? {
    for seed in 1...limit {
      let steps = History.steps(seed: seed)
      if let violation = Simulation.violation(in: steps, mutant: self) {
        return (seed, steps, violation)
      }
    }
    return nil
  }
}

extension Simulation {
  /// Runs steps, lets everything heal, and checks that it comes to rest with all the same.
  ///
  /// Returns the first violation.
  public static func violation(in steps: [Step], mutant: Mutant? = nil) -> Violation? {
    violation(in: steps, faults: mutant?.faults ?? [])
  }
}

extension Shrinker {
  /// A shorter history, with its violation. It may be another one than that of the longer history.
  public static func shrunk(
    _ steps: [Step], _ violation: Violation, mutant: Mutant? = nil
  ) -> ([Step], Violation) {
    shrunk(steps, violation, faults: mutant?.faults ?? [])
  }
}
