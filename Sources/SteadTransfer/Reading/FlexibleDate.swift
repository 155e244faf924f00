import Foundation

/// Dates as apps have written them: a number of seconds since 2001, or ISO 8601 with or without fractions.
enum FlexibleDate {
  static func parse(_ text: String) -> Date? {
    if let seconds = Double(text), seconds.isFinite {
      return Date(timeIntervalSinceReferenceDate: seconds)
    }
    let whole = Date.ISO8601FormatStyle()
    let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return (try? whole.parse(text)) ?? (try? fractional.parse(text))
  }
}
