import Foundation

/// How often a test does what finds faults by chance: kills, random calls, damaged bytes.
package enum Effort {
  /// `Scripts/test --long` sets the variable.
  package static let isLong =
    ProcessInfo.processInfo.environment["STEAD_LONG"].map { !$0.isEmpty } ?? false
  private static let longFactor = 10
  // Sanitized processes take ten times as long.
  private static let sanitizedShare = 10

  /// - Parameter count: How often in a short run, which every change goes through.
  package static func times(_ count: Int) -> Int {
    if isThreadSanitized { return max(1, count / sanitizedShare) }
    return isLong ? count * longFactor : count
  }
}
