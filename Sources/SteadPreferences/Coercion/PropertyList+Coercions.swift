import Foundation

/// What `UserDefaults` makes of a value of another kind.
///
/// Documentation/Preferences.md has the table. Numbers become each other as `NSNumber` makes them do;
/// of a text counts what a number begins with, as `NSString.integerValue` has it.
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
    // As the cast in C does that NSNumber makes.
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

  /// The nearest that there is; nothing of what is no number.
  private static func int(_ number: Double) -> Int {
    if number.isNaN { return 0 }
    if number >= 0x1p63 { return .max }
    return number < -0x1p63 ? .min : Int(number)
  }

  /// The fewest digits that are read as the same number.
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

/// Numbers at the beginning of texts.
enum NumberText {
  /// As `NSString.integerValue`: blanks, a sign, digits; the nearest that there is, 0 without digits.
  static func int(_ text: String) -> Int {
    var rest = Substring(text).utf8.drop(while: isBlank)
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    var number = 0
    for byte in rest {
      guard isDigit(byte) else { break }
      let digit = Int(byte - UInt8(ascii: "0"))
      let (tenfold, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isTooFar) =
        isNegative
        ? tenfold.subtractingReportingOverflow(digit) : tenfold.addingReportingOverflow(digit)
      if isTooLarge || isTooFar { return isNegative ? .min : .max }
      number = sum
    }
    return number
  }

  /// As `NSString.doubleValue`: blanks, a sign, digits with a point, an exponent; 0 without digits.
  static func double(_ text: String) -> Double {
    let bytes = Array(text.utf8.drop(while: isBlank))
    var end = 0
    func digits() -> Bool {
      let start = end
      while end < bytes.count, isDigit(bytes[end]) { end += 1 }
      return end > start
    }
    if let sign = bytes.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { end = 1 }
    var hasDigits = digits()
    if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
      end += 1
      hasDigits = digits() || hasDigits
    }
    guard hasDigits else { return 0 }
    let mantissa = end
    if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
      end += 1
      if end < bytes.count, bytes[end] == UInt8(ascii: "-") || bytes[end] == UInt8(ascii: "+") {
        end += 1
      }
      if !digits() { end = mantissa }
    }
    // Not strtod, to which a decimal point is what the locale says.
    return Double(String(decoding: bytes[..<end], as: UTF8.self)) ?? 0
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }
  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
