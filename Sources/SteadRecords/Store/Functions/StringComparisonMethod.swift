public import Foundation

/// Foundation's comparisons of texts; the numbers are part of prepared statements.
public enum StringComparisonMethod: Int, Codable, Sendable {
  case caseInsensitive
  case localized
  case localizedStandard
  case localizedCaseInsensitive

  public func compare(_ left: String, _ right: String) -> ComparisonResult {
    switch self {
    case .caseInsensitive: left.caseInsensitiveCompare(right)
    case .localized: left.localizedCompare(right)
    case .localizedStandard: left.localizedStandardCompare(right)
    case .localizedCaseInsensitive: left.localizedCaseInsensitiveCompare(right)
    }
  }
}
