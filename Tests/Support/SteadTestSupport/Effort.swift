import Foundation

/// How often a test does what finds faults by chance: kills, random calls, damaged bytes.
package enum Effort {
  /// `Scripts/test --long` sets the variable.
  package static let isLong =
    ProcessInfo.processInfo.environment["STEAD_LONG"].map { !$0.isEmpty } ?? false
  /// Where random numbers of a test begin that has no seeds of its own: another place in each run, unless
  /// `STEAD_SEED` gives it. It is printed, so that a run can be repeated.
  package static let seed: UInt64 = {
    let given = ProcessInfo.processInfo.environment["STEAD_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0..<1_000_000_000)
    print("Random numbers begin with STEAD_SEED=\(seed)")
    return seed
  }()
  private static let longFactor = 10
  // Sanitized processes take ten times as long.
  private static let sanitizedShare = 10

  /// - Parameter count: How often in a short run, which every change goes through.
  package static func times(_ count: Int) -> Int {
    if isThreadSanitized { return max(1, count / sanitizedShare) }
    return isLong ? count * longFactor : count
  }
}
