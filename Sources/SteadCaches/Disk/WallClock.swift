import Foundation

/// Moments as a cache's file has them: milliseconds since 1970.
enum WallClock {
  /// The moment of entries that do not expire.
  static let never = Int64.max

  static func milliseconds(_ date: Date) -> Int64 {
    let value = (date.timeIntervalSince1970 * 1000).rounded(.down)
    // A date beyond what a number holds is as good as the last one that it holds.
    return Int64(exactly: value) ?? (value < 0 ? .min : never - 1)
  }

  static func date(_ milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  /// When an entry expires that is stored now.
  static func expiry(of timeToLive: Duration?, from moment: Int64) -> Int64 {
    guard let timeToLive else { return never }
    let (seconds, attoseconds) = timeToLive.components
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1000)
    if overflows { return seconds < 0 ? moment : never }
    let (sum, isTooLate) = moment.addingReportingOverflow(whole)
    if isTooLate { return seconds < 0 ? moment : never }
    let (result, isOver) = sum.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return isOver ? never : result
  }
}
