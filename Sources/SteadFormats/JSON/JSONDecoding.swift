import Foundation

/// Dates in ISO 8601, in either of the common forms: with whole seconds, or with a fraction.
///
/// `JSONDecoder.DateDecodingStrategy.iso8601` refuses fractions, which JavaScript always writes.
package enum ISO8601Date {
  private static let whole = Date.ISO8601FormatStyle()
  private static let fraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// The date in a string; nil if the string isn't an ISO 8601 date with a time zone.
  package static func date(_ text: String) -> Date? {
    // Each style refuses the other form.
    let style = text.utf8.contains(UInt8(ascii: ".")) ? fraction : whole
    let range = text.startIndex..<text.endIndex
    // `parse` accepts a string that merely begins with a date.
    let found = try? style.consuming(text, startingAt: range.lowerBound, in: range)
    guard let found, found.upperBound == range.upperBound else { return nil }
    return found.output
  }

  /// Decodes a date in either form that apps write in JSON: seconds since 2001, the default of
  /// `JSONEncoder`, or ISO 8601.
  package static func date(from decoder: any Decoder) throws -> Date {
    let container = try decoder.singleValueContainer()
    // By default `JSONDecoder` makes no number of a string, so this fails for ISO 8601.
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
  /// A sentence that says what failed, and never what was read: Foundation's own descriptions may
  /// quote stored values.
  package var sentenceWithoutValue: String {
    switch self {
    case .keyNotFound(let key, _): "The value of \(key.stringValue) is missing."
    case .typeMismatch(let type, _): "A value isn't of the type \(type)."
    case .valueNotFound(let type, _): "A value of \(type) is missing."
    // The document as a whole, of which no path leads to a part.
    case .dataCorrupted(let context)
    where context.codingPath.isEmpty && context.underlyingError != nil:
      "The data is damaged, or isn't JSON."
    // Also a raw value of no case, or a text that is no date: nothing is damaged.
    case .dataCorrupted: "A value has a form that its type does not read."
    @unknown default: "The data does not decode."
    }
  }
}

extension EncodingError {
  /// A sentence that says what failed, without the value.
  package var sentenceWithoutValue: String {
    switch self {
    case .invalidValue(let value, _): "A value of \(type(of: value)) cannot be encoded."
    @unknown default: "The value does not encode."
    }
  }
}
