import Foundation
import SteadFiles

/// The conversions of `UserDefaults` for values of another kind.
///
/// Documentation/Preferences.md has the table, which a test reads and checks cell by cell. Numbers
/// are converted as `NSNumber` does; a string by the number that it begins with, as
/// `NSString.integerValue` does.
extension PropertyList {
  /// A string, or a number in its shortest decimal form.
  var text: String? {
    switch self {
    case .string(let text): text
    case .bool(let flag): flag ? "1" : "0"
    case .integer(let number): String(number)
    case .unsignedInteger(let number): String(number)
    // 9 digits tell all floats apart, and 17 all doubles (IEEE 754). Most need fewer.
    case .float(let number): Self.text(number, digits: 7...9) { Float($0) }
    case .double(let number): Self.text(number, digits: 15...17) { Double($0) }
    case .date, .data, .array, .dictionary: nil
    }
  }

  /// The value as `integer(forKey:)` returns it. Inlined for the common case of a whole number.
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
    // Above `Int64.max`, so never 0.
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
    // Swift's conversion would trap.
    if number >= 0x1p63 { return .max }
    return number < -0x1p63 ? .min : Int(number)
  }

  /// The shortest decimal form that is read as the same number, as `NSNumber.stringValue` has it.
  private static func text<Number: BinaryFloatingPoint>(
    _ number: Number, digits: ClosedRange<Int>, parse: (String) -> Number?
  ) -> String {
    var text = ""
    // From few digits to many: the first form that reads back as the same number is the shortest.
    for count in digits {
      text = String(format: "%.\(count)g", Double(number))
      if parse(text) == number { break }
    }
    return text
  }

  // MARK: - URLs

  /// Makes a URL's stored form in `UserDefaults`: a file's path, or an archive.
  ///
  /// Paths in the user's home begin with `~`, so that they stay valid when the home is moved.
  init(url: URL) throws {
    if url.isFileURL {
      self = .string(Self.abbreviated(url.absoluteURL.path(percentEncoded: false)))
      return
    }
    self = .data(
      try NSKeyedArchiver.archivedData(withRootObject: url as NSURL, requiringSecureCoding: true))
  }

  /// A string as the path of a file, data as an archived URL; nil for any other value.
  var url: URL? {
    switch self {
    case .string(let path): URL(fileURLWithPath: Self.expanded(path))
    case .data(let data):
      (try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSURL.self, from: data))?.absoluteURL
    default: nil
    }
  }

  /// A path with `~` for the home directory.
  private static func abbreviated(_ path: String) -> String {
    let home = home
    // Not for a home of `/`, and not for a directory whose name only begins like the home's.
    guard home.count > 1, path == home || path.hasPrefix(home + "/") else { return path }
    return "~" + path.dropFirst(home.count)
  }

  private static func expanded(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/") else {
      // `~name` is another user's home, which Foundation looks up.
      return (path as NSString).expandingTildeInPath
    }
    return withoutEnd(home + path.dropFirst())
  }

  /// Not `NSHomeDirectory()`, which is the working directory for some users if `HOME` is empty.
  private static var home: String { withoutEnd(HomeDirectory.account.path(percentEncoded: false)) }

  /// A path without slashes at its end.
  private static func withoutEnd(_ path: String) -> String {
    let end = path.lastIndex { $0 != "/" }
    return end.map { String(path[...$0]) } ?? "/"
  }
}

// MARK: - Numbers in strings

/// Reads the number that a string begins with, as the methods of `NSString` do.
enum NumberText {
  /// As `NSString.integerValue`: blanks, a sign, digits; clamped to the nearest value, 0 without
  /// digits.
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
      // Clamped, as `NSString.integerValue` does.
      if isTooLarge || isTooFar { return isNegative ? .min : .max }
      number = sum
    }
    return number
  }

  /// As `NSString.doubleValue`: blanks, a sign, digits with a point, an exponent; 0 without digits.
  ///
  /// What follows is ignored, as in `12.75 apples`. An exponent without digits does not count.
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
