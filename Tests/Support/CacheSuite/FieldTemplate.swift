import Foundation

/// A header field of a test's file, which becomes one of a message when the message is made.
package struct FieldTemplate: Sendable, Decodable {
  package enum Value: Sendable {
    case text(String)
    /// In a field that holds a date: seconds from the time at which the message is made.
    case number(Int)
  }

  package var name: String
  package var value: Value
  /// Whether what the client gets is compared with what the origin sent.
  package var isCompared: Bool

  private static let dates: Set<String> = [
    "date", "expires", "last-modified", "if-modified-since", "if-unmodified-since",
  ]
  private static let locations: Set<String> = ["location", "content-location"]

  package init(from decoder: any Decoder) throws {
    var parts = try decoder.unkeyedContainer()
    name = try parts.decode(String.self)
    if let number = try? parts.decode(Int.self) {
      value = .number(number)
    } else {
      value = .text(try parts.decode(String.self))
    }
    isCompared = parts.isAtEnd ? true : try parts.decode(Bool.self)
  }

  /// The value in a message.
  ///
  /// - Parameters:
  ///   - now: When the origin made the message, or the one that it refers to.
  ///   - path: The path that locations are relative to.
  ///   - step: The request in whose description the field is.
  package func value(now: Date, path: String, in step: TestStep) -> String {
    let key = name.lowercased()
    switch value {
    case .number(let seconds) where Self.dates.contains(key):
      let date = now.addingTimeInterval(Double(seconds))
      return step.dateFieldsInOldFormat.contains(key) ? HTTPDate.old(date) : HTTPDate.fixed(date)
    case .number(let number): return String(number)
    case .text(let text) where Self.locations.contains(key) && step.relatesLocations:
      return text.isEmpty ? path : "\(path)/\(text)"
    case .text(let text): return text
    }
  }
}

/// Dates in header fields, RFC 9110 section 5.6.7.
private enum HTTPDate {
  static func fixed(_ date: Date) -> String { string(date, "EEE, dd MMM yyyy HH:mm:ss 'GMT'") }
  static func old(_ date: Date) -> String { string(date, "EEEE, dd-MMM-yy HH:mm:ss 'GMT'") }

  private static func string(_ date: Date, _ format: String) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = format
    // A formatter may round; a header field has the second that has begun.
    return formatter.string(
      from: Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down)))
  }
}
