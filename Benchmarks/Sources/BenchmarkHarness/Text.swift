import Foundation

/// A time that was measured in nanoseconds, in the unit that suits it.
package func timeText(_ nanoseconds: Double) -> String {
  let (value, unit) =
    switch nanoseconds {
    case ..<1e3: (nanoseconds, "ns")
    case ..<1e6: (nanoseconds / 1e3, "µs")
    default: (nanoseconds / 1e6, "ms")
    }
  return String(format: value < 10 ? "%.2f \(unit)" : "%.0f \(unit)", value)
}

extension Int {
  /// With a comma before each three digits.
  package var grouped: String {
    var rest = Substring(String(self))
    var groups: [Substring] = []
    while rest.count > 3 {
      groups.insert(rest.suffix(3), at: 0)
      rest = rest.dropLast(3)
    }
    return ([rest] + groups).joined(separator: ",")
  }
}
