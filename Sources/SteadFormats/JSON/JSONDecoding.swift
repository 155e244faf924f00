import Foundation

/// Dates as strings in either of the common forms: whole seconds, or with a fraction.
package enum ISO8601Date {
  private static let whole = Date.ISO8601FormatStyle()
  private static let fraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// The moment; nil when the string isn't an ISO 8601 date with a time zone.
  package static func date(_ text: String) -> Date? {
    let style = text.utf8.contains(UInt8(ascii: ".")) ? fraction : whole
    let range = text.startIndex..<text.endIndex
    // `parse` accepts a string that merely begins with a date.
    let found = try? style.consuming(text, startingAt: range.lowerBound, in: range)
    guard let found, found.upperBound == range.upperBound else { return nil }
    return found.output
  }

  /// A date in either form that apps write in JSON: a number of seconds since 2001, or a string.
  package static func date(from decoder: any Decoder) throws -> Date {
    let container = try decoder.singleValueContainer()
    if let seconds = try? container.decode(Double.self) {
      return Date(timeIntervalSinceReferenceDate: seconds)
    }
    guard let date = date(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "This string isn't an ISO 8601 date.")
    }
    return date
  }
}

// MARK: - Errors without values

extension DecodingError {
  /// What is wrong, without what was read: Foundation's own descriptions may quote it.
  package var sentenceWithoutValue: String {
    switch self {
    case .keyNotFound(let key, _): "The value of \(key.stringValue) is missing."
    case .typeMismatch(let type, _): "A value isn't a \(type)."
    case .valueNotFound(let type, _): "A value of \(type) is missing."
    case .dataCorrupted: "A value is corrupt."
    @unknown default: "The data does not decode."
    }
  }
}

extension EncodingError {
  /// What is wrong, without the value.
  package var sentenceWithoutValue: String {
    switch self {
    case .invalidValue(let value, _): "A value of \(type(of: value)) cannot be encoded."
    @unknown default: "The value does not encode."
    }
  }
}
