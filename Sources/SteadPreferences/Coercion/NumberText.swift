import Foundation

/// Reads the number that a string begins with.
enum NumberText {
  /// As `NSString.integerValue`: blanks, a sign, digits; clamped to the nearest value, 0 without digits.
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
    // Not strtod, whose decimal point depends on the locale.
    return Double(String(decoding: bytes[..<end], as: UTF8.self)) ?? 0
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }
  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
