import Foundation

/// The conversions of `UserDefaults` for values of another kind.
///
/// Documentation/Preferences.md has the table. Numbers are converted as `NSNumber` does; a string is
/// converted by the number that it begins with, as `NSString.integerValue` does.
extension PropertyList {
  var text: String? {
    switch self {
    case .string(let text): text
    case .bool(let flag): flag ? "1" : "0"
    case .integer(let number): String(number)
    case .unsignedInteger(let number): String(number)
    case .float(let number): Self.text(number, digits: 7...9) { Float($0) }
    case .double(let number): Self.text(number, digits: 15...17) { Double($0) }
    case .date, .data, .array, .dictionary: nil
    }
  }

  @inline(__always)
  var int: Int {
    if case .integer(let number) = self { return Int(truncatingIfNeeded: number) }
    return convertedInt
  }

  private var convertedInt: Int {
    switch self {
    case .bool(let flag): flag ? 1 : 0
    case .integer(let number): Int(truncatingIfNeeded: number)
    // Like the C cast that NSNumber performs.
    case .unsignedInteger(let number): Int(truncatingIfNeeded: number)
    case .float(let number): Self.int(Double(number))
    case .double(let number): Self.int(number)
    case .string(let text): NumberText.int(text)
    case .date, .data, .array, .dictionary: 0
    }
  }

  var doubleValue: Double {
    switch self {
    case .double(let number): number
    case .bool(let flag): flag ? 1 : 0
    case .integer(let number): Double(number)
    case .unsignedInteger(let number): Double(number)
    case .float(let number): Double(number)
    case .string(let text): NumberText.double(text)
    case .date, .data, .array, .dictionary: 0
    }
  }

  var floatValue: Float {
    switch self {
    case .float(let number): number
    case .integer(let number): Float(number)
    case .unsignedInteger(let number): Float(number)
    default: Float(doubleValue)
    }
  }

  var boolValue: Bool {
    switch self {
    case .bool(let flag): flag
    case .integer(let number): number != 0
    case .unsignedInteger: true
    case .float(let number): number != 0
    case .double(let number): number != 0
    case .string(let text): ["YES", "TRUE", "1"].contains(text.uppercased())
    case .date, .data, .array, .dictionary: false
    }
  }

  var strings: [String]? {
    guard case .array(let values) = self else { return nil }
    var strings: [String] = []
    strings.reserveCapacity(values.count)
    for value in values {
      guard case .string(let text) = value else { return nil }
      strings.append(text)
    }
    return strings
  }

  /// The nearest integer; 0 for NaN.
  private static func int(_ number: Double) -> Int {
    if number.isNaN { return 0 }
    if number >= 0x1p63 { return .max }
    return number < -0x1p63 ? .min : Int(number)
  }

  /// The shortest string that is read as the same number.
  private static func text<Number: BinaryFloatingPoint>(
    _ number: Number, digits: ClosedRange<Int>, parse: (String) -> Number?
  ) -> String {
    var text = ""
    for count in digits {
      text = String(format: "%.\(count)g", Double(number))
      if parse(text) == number { break }
    }
    return text
  }
}
