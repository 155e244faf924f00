/// Adapts the window's share of the cache to the workload, by hill climbing on the hit ratio.
///
/// Workloads that soon use the last used entries again need a large window; workloads with entries
/// that are popular for long need a small one. After every ``periodFactor`` requests for each entry
/// the hit ratio is compared with that of the previous period. If it rose, the window changes in
/// the same direction again, by more; if not, in the other direction, by less. A change that may be
/// chance makes the window smaller, step by step, until that does harm.
///
/// Source of the algorithm: G. Einziger, O. Eytan, R. Friedman, B. Manes, "Adaptive Software Cache
/// Management", 2018. The steps are those of M. Riedmiller, H. Braun, "RPROP", 1992.
struct WindowClimber {
  /// The window's share at the start, its least and its greatest.
  static let firstShare = 0.01
  static let leastShare = 0.0
  static let greatestShare = 0.99

  private static let periodFactor = 8
  private static let firstStep = 0.0625
  private static let returnStep = 0.06
  private static let leastStep = 0.03
  private static let greatestStep = 0.25
  private static let growth = 1.5
  private static let shrinkage = 0.5
  private static let greatestBackoff = 16
  /// How many standard deviations a change of the hit ratio must have; smaller ones are treated as
  /// chance. With 1.5 one period in seven turned the climb by chance.
  private static let significance = 2.5
  /// The hits are sampled this often while the cache's entries turn over once, but not for fewer
  /// than ``leastMisses`` new entries.
  private static let samples = 16
  private static let leastMisses = 32

  /// The share of the cache, in entries and in cost, that the window has.
  private(set) var share = WindowClimber.firstShare
  private var step = WindowClimber.firstStep
  /// The hit ratio to compare with, and the share with which it was measured.
  private var lastHitRatio = 0.0
  private var lastShare = WindowClimber.firstShare
  /// Whether the window is shrinking because its share made no difference.
  private var isReturning = false
  /// The number of periods for which the share stays after shrinking was a mistake, doubled each
  /// time, and how many of them are left.
  private var backoff = 1
  private var periodsToWait = 0
  /// Hits of the cache's whole life when the period began, and new entries since.
  private var firstHits = 0
  private var misses = 0
  /// New entries since the hits were sampled.
  private var unsampledMisses = 0

  /// Counts a request that has missed, of which the policy learns by the new entry.
  mutating func recordMiss() {
    misses += 1
    unsampledMisses += 1
  }

  /// Whether to sample the hits now. Not each time, since that acquires the locks of all shards.
  ///
  /// - Parameter entryCount: How many entries the cache has; it is full.
  func needsHits(entryCount: Int) -> Bool {
    unsampledMisses > max(entryCount / Self.samples, Self.leastMisses)
  }

  /// Changes the share if a period is over.
  ///
  /// - Parameters:
  ///   - hits: The hits of the cache's whole life.
  ///   - entryCount: How many entries the cache has; it is full.
  mutating func updateWindow(_ hits: Int, entryCount: Int) {
    // Also when the period isn't over: the hits were just summed over all shards.
    unsampledMisses = 0
    let requests = hits - firstHits + misses
    guard requests >= Self.periodFactor * max(entryCount, 1) else { return }
    let hitRatio = Double(hits - firstHits) / Double(requests)
    climb(hitRatio, change: hitRatio - lastHitRatio, requests)
    (firstHits, misses) = (hits, 0)
  }

  /// Takes one step. Documentation/Caches.md has the rules as a table.
  private mutating func climb(_ hitRatio: Double, change: Double, _ requests: Int) {
    // The standard deviation of a ratio of independent requests (binomial).
    let deviation = (hitRatio * (1 - hitRatio) / Double(requests)).squareRoot()
    let isChance = abs(change) < Self.significance * deviation
    if isChance, periodsToWait > 0 {
      // The share was just found to matter; another trial so soon would cost hits again.
      periodsToWait -= 1
    } else if isChance, share <= Self.leastShare {
      // The window can't shrink further. A trial upwards finds out whether the workload has
      // changed.
      step = Self.firstStep
      move(by: step)
    } else if isChance {
      // If the share makes no difference, a small window is right: it resists scans. `lastHitRatio`
      // stays, so that the effect of many small steps is noticed, too.
      isReturning = true
      move(by: -Self.returnStep)
    } else if isReturning, change < 0 {
      // Shrinking has made a difference: back, and not again so soon.
      isReturning = false
      share = lastShare
      backoff = min(backoff * 2, Self.greatestBackoff)
      periodsToWait = backoff
    } else {
      (isReturning, backoff) = (false, 1)
      (lastHitRatio, lastShare) = (hitRatio, share)
      // As in RPROP: longer steps in a direction that helps, shorter ones across a maximum.
      step *= change < 0 ? -Self.shrinkage : Self.growth
      let size = min(max(abs(step), Self.leastStep), Self.greatestStep)
      step = step < 0 ? -size : size
      move(by: step)
    }
  }

  private mutating func move(by step: Double) {
    share = min(max(share + step, Self.leastShare), Self.greatestShare)
  }
}
