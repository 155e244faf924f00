/// Makes a failing sequence as short as it can be.
public struct Shrinker {
  /// The greatest number of sequences that are tried for one failure.
  public static let trialLimit = 3_000

  private let fails: (Trial) -> Bool
  private var tries = 0

  /// - Parameter fails: Whether a sequence still fails; for crashes it runs another process.
  public init(fails: @escaping (Trial) -> Bool) { self.fails = fails }

  /// Tries shorter sequences in this process, and keeps those that differ in the same way.
  public init(_ divergence: Divergence) {
    self.init { (try? $0.firstDivergence())?.kind == divergence.kind }
  }

  public mutating func shrunk(_ trial: Trial) -> Trial {
    var best = trial
    while true {
      let before = best.steps
      removeChunks(&best)
      simplify(&best)
      if best.steps == before || tries >= Self.trialLimit { return best }
    }
  }

  private mutating func accepts(_ steps: [Step], _ best: inout Trial) -> Bool {
    guard tries < Self.trialLimit else { return false }
    tries += 1
    var candidate = best
    candidate.steps = steps
    guard fails(candidate) else { return false }
    best = candidate
    return true
  }

  private mutating func removeChunks(_ best: inout Trial) {
    var size = max(1, best.steps.count / 2)
    while true {
      var start = 0
      while start < best.steps.count {
        let end = min(start + size, best.steps.count)
        let isRemoved = Self.removals(of: start..<end, in: best.steps).contains { steps in
          accepts(steps, &best)
        }
        if !isRemoved { start += size }
      }
      if size == 1 { return }
      size /= 2
    }
  }

  /// The steps without some; since later ones count objects, also with counts that are one less.
  private static func removals(of range: Range<Int>, in steps: [Step]) -> [[Step]] {
    var rest = steps
    rest.removeSubrange(range)
    if range.count > 1 { return [rest] }
    var results = [rest]
    let later = range.lowerBound..<rest.count
    for fields in [[\Step.a], [\Step.b], [\Step.a, \Step.b]] {
      // In all later steps, or in one of them.
      for places in [later] + later.map({ $0..<($0 + 1) }) {
        var lowered = rest
        for place in places {
          for field in fields where lowered[place][keyPath: field] > 0 {
            lowered[place][keyPath: field] -= 1
          }
        }
        if lowered != rest { results.append(lowered) }
      }
    }
    return results
  }

  private mutating func simplify(_ best: inout Trial) {
    let fields: [WritableKeyPath<Step, Int>] = [\.context, \.a, \.b, \.d, \.c]
    for place in best.steps.indices {
      for field in fields {
        let value = best.steps[place][keyPath: field]
        for simpler in [0, 1, value / 2, value - 1] where simpler >= 0 && simpler < value {
          var steps = best.steps
          steps[place][keyPath: field] = simpler
          if accepts(steps, &best) { break }
        }
      }
    }
  }
}
