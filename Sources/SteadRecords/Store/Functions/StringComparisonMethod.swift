import Foundation

/// Foundation's comparisons of strings, each with the name of its method; the numbers are part of prepared statements.
public enum _StringComparisonMethod: Int, Codable, Sendable {
  case caseInsensitiveCompare
  case localizedCompare
  case localizedStandardCompare
  case localizedCaseInsensitiveCompare

  func compare(_ left: String, _ right: String) -> ComparisonResult {
    switch self {
    case .caseInsensitiveCompare: left.caseInsensitiveCompare(right)
    case .localizedCompare: left.localizedCompare(right)
    case .localizedStandardCompare: left.localizedStandardCompare(right)
    case .localizedCaseInsensitiveCompare: left.localizedCaseInsensitiveCompare(right)
    }
  }
}
