import Foundation

/// How often a test does what finds faults by chance: kills, random calls, damaged bytes.
package enum Effort {
  /// `Scripts/test --long` sets the variable.
  package static let isLong =
    ProcessInfo.processInfo.environment["STEAD_LONG"].map { !$0.isEmpty } ?? false
  /// The first seed of random tests that have none of their own. Short runs, which decide whether a change is
  /// taken, always use the same one, so that no run fails by chance. Long runs draw one, and print it.
  /// `STEAD_SEED` overrides both.
  package static let seed: UInt64 = {
    let given = ProcessInfo.processInfo.environment["STEAD_SEED"].flatMap { UInt64($0) }
    guard given == nil, isLong else { return given ?? 1 }
    let seed = UInt64.random(in: 0..<1_000_000_000)
    print("The first seed is STEAD_SEED=\(seed)")
    return seed
  }()
  /// Whether a random test makes enough rounds to expect each outcome. A sanitized build does not.
  package static var isRepresentative: Bool { !isThreadSanitized }
  private static let longFactor = 10
  // Sanitized processes take ten times as long.
  private static let sanitizedShare = 10

  /// - Parameters:
  ///   - count: How often in a short run, which every change goes through.
  ///   - long: How often in a long one; ten times as often unless given.
  package static func times(_ count: Int, long: Int? = nil) -> Int {
    if isThreadSanitized { return max(1, count / sanitizedShare) }
    return isLong ? long ?? count * longFactor : count
  }
}
