import Foundation

/// Dates that were written as text, by either of the ways in use: whole seconds, or with a fraction.
enum ISO8601Date {
  private static let whole = Date.ISO8601FormatStyle()
  private static let fraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// The moment, nil when the text is no date of ISO 8601 with a time zone.
  static func date(_ text: String) -> Date? {
    try? text.utf8.contains(UInt8(ascii: ".")) ? fraction.parse(text) : whole.parse(text)
  }
}
