import Foundation

/// Writes Apple's XML property lists, laid out as by Apple's writer: a tab for each level, sorted
/// keys.
///
/// XML has one kind of floating-point number, so a `Float` is written as the `Double` of the same
/// value, and dates lose their fraction of a second. A carriage return is written as a character
/// reference, since XML readers normalize a literal one to a line feed.
///
/// `PropertyListSerialization` takes 16 times as long for 10,000 keys: `Scripts/benchmark formats
/// --cpu`.
struct XMLPropertyListWriter: ~Copyable {
  private var output: ByteWriter

  /// Serializes a property list.
  ///
  /// - Throws: ``PropertyListError`` at the depth limit, for control characters in strings, and for
  ///   dates whose year has more than 9 digits.
  static func write(_ list: PropertyList) throws -> Data {
    var writer = XMLPropertyListWriter(output: ByteWriter(capacity: 1024))
    writer.line(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
      "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      """, depth: 0)
    try writer.add(list, depth: 0)
    writer.line("</plist>", depth: 0)
    return writer.output.data()
  }

  /// Writes a value, indented.
  private mutating func add(_ list: PropertyList, depth: Int) throws {
    switch list {
    case .bool(let bool): line(bool ? "<true/>" : "<false/>", depth: depth)
    case .integer(let number): line("<integer>\(number)</integer>", depth: depth)
    case .unsignedInteger(let number): line("<integer>\(number)</integer>", depth: depth)
    case .float(let number): line("<real>\(Self.text(Double(number)))</real>", depth: depth)
    case .double(let number): line("<real>\(Self.text(number))</real>", depth: depth)
    case .date(let date):
      guard let text = PropertyListDate.text(date) else {
        throw PropertyListError.unsupported(
          "A date is too far away for XML; write a binary property list.", at: nil)
      }
      line("<date>\(text)</date>", depth: depth)
    case .data(let data): add(data, depth: depth)
    case .string(let text): try line("string", text, depth: depth)
    case .array(let elements):
      guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
      // As Apple's writer does.
      guard !elements.isEmpty else { return line("<array/>", depth: depth) }
      line("<array>", depth: depth)
      for element in elements { try add(element, depth: depth + 1) }
      line("</array>", depth: depth)
    case .dictionary(let fields):
      guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
      guard !fields.isEmpty else { return line("<dict/>", depth: depth) }
      line("<dict>", depth: depth)
      for field in fields {
        do {
          try line("key", field.key, depth: depth + 1)
          try add(field.value, depth: depth + 1)
        } catch let error as PropertyListError {
          throw depth == 0 ? error.within(field.key) : error
        }
      }
      line("</dict>", depth: depth)
    }
  }

  /// A number as Apple's writer prints it. Swift's description is the shortest text that reads back
  /// as the same number.
  private static func text(_ number: Double) -> String {
    if number.isNaN { return "nan" }
    if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
    return number.description
  }

  /// The number of Base64 characters in a line, if a tab counts as 8.
  private static let dataLineLength = 76
  /// From this depth on lines of data are no longer indented further, so that they don't become too
  /// short.
  private static let tabLimit = 8

  /// Writes data as lines of Base64.
  private mutating func add(_ data: Data, depth: Int) {
    line("<data>", depth: depth)
    let indent = min(depth, Self.tabLimit)
    // A multiple of 4, since Base64 has groups of four characters.
    let length = max(16, Self.dataLineLength - indent * 8) / 4 * 4
    let digits = data.base64EncodedData()
    var rest = digits[...]
    while !rest.isEmpty {
      for _ in 0..<indent { output.append(UInt8(ascii: "\t")) }
      rest.prefix(length).withUnsafeBytes { output.append($0) }
      output.append(UInt8(ascii: "\n"))
      rest = rest.dropFirst(length)
    }
    line("</data>", depth: depth)
  }

  /// Writes a line, indented.
  private mutating func line(_ text: String, depth: Int) {
    for _ in 0..<depth { output.append(UInt8(ascii: "\t")) }
    for byte in text.utf8 { output.append(byte) }
    output.append(UInt8(ascii: "\n"))
  }

  /// Writes an element with escaped text.
  private mutating func line(_ name: String, _ text: String, depth: Int) throws {
    var escaped: [UInt8] = []
    escaped.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): escaped += "&amp;".utf8
      case UInt8(ascii: "<"): escaped += "&lt;".utf8
      case UInt8(ascii: ">"): escaped += "&gt;".utf8
      case UInt8(ascii: "\r"): escaped += "&#13;".utf8
      // UTF-8 continuation bytes are above 0x20, so this copies them, too.
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"), 0x20...: escaped.append(byte)
      default:
        throw PropertyListError.unsupported(
          "A string has a control character, which XML cannot hold; write a binary property list.",
          at: nil)
      }
    }
    line("<\(name)>\(String(decoding: escaped, as: UTF8.self))</\(name)>", depth: depth)
  }
}

// MARK: - Dates

/// Dates as text property lists write them, `2026-11-21T19:30:00Z`: whole seconds, UTC, in the
/// proleptic Gregorian calendar.
///
/// Written by hand since a formatter of Foundation's takes a microsecond, and switches to the
/// Julian calendar for dates before 1582.
enum PropertyListDate {
  private static let secondsPerDay = 86_400
  /// The days from 0000-03-01, where the day count below begins, to 2001-01-01.
  private static let daysToReference = 730_791
  /// The maximum absolute value of a year, 9 digits; it keeps the arithmetic far from overflow.
  private static let yearLimit = 999_999_999

  /// The date in a string; nil if the string isn't one.
  static func date(_ text: some Collection<UInt8>) -> Date? {
    var rest = Array(text)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }
    guard let year = parseNumber(&rest, digits: 1...9, until: "-"),
      let month = parseNumber(&rest, digits: 1...2, until: "-"), (1...12).contains(month),
      let day = parseNumber(&rest, digits: 1...2, until: "T"), (1...31).contains(day),
      let hour = parseNumber(&rest, digits: 1...2, until: ":"), hour < 24,
      let minute = parseNumber(&rest, digits: 1...2, until: ":"), minute < 60,
      let second = parseNumber(&rest, digits: 1...2, until: "Z"), second < 60, rest.isEmpty
    else { return nil }
    let days = days(year: isNegative ? -year : year, month: month, day: day)
    // February 30 would silently become a day in March.
    guard civil(days: days).day == day else { return nil }
    let seconds = (days * 24 + hour) * 3600 + minute * 60 + second
    return Date(timeIntervalSinceReferenceDate: Double(seconds))
  }

  /// A date as a string, without its fraction of a second; nil if its year has more than 9 digits.
  static func text(_ date: Date) -> String? {
    // Down, not towards zero: otherwise dates before 2001 would be rounded up.
    let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
    guard abs(seconds) < Double(yearLimit) * 365 * Double(secondsPerDay) else { return nil }
    let whole = Int(seconds)
    // Rounded down, since integer division rounds toward zero.
    let days = Int((Double(whole) / Double(secondsPerDay)).rounded(.down))
    let rest = whole - days * secondsPerDay
    let (year, month, day) = civil(days: days)
    let sign = year < 0 ? "-" : ""
    return sign + padded(abs(year), 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T"
      + padded(rest / 3600, 2) + ":" + padded(rest / 60 % 60, 2) + ":" + padded(rest % 60, 2) + "Z"
  }

  /// Consumes a number of so many digits, and the character after it.
  private static func parseNumber(
    _ text: inout ArraySlice<UInt8>, digits: ClosedRange<Int>, until end: Unicode.Scalar
  ) -> Int? {
    let taken = text.prefix { $0.isDigit }
    guard digits.contains(taken.count) else { return nil }
    text = text.dropFirst(taken.count)
    guard text.first == UInt8(ascii: end) else { return nil }
    text = text.dropFirst()
    // Nine digits at most, so this can't overflow.
    return taken.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  /// A number with leading zeros.
  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  // Years are counted from March, so that a leap day is the last day of a year. 400 years, an era,
  // then always have the same number of days, and the days before each month follow a linear
  // formula: (153 * month + 2) / 5.
  // The algorithms are `days_from_civil` and `civil_from_days` of Howard Hinnant's
  // "chrono-Compatible Low-Level Date Algorithms",
  // https://howardhinnant.github.io/date_algorithms.html.
  private static let daysPerEra = 146_097

  /// The number of days since 2001-01-01.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    // January and February belong to the year before, in which they are the months 10 and 11.
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * daysPerEra + dayOfEra - daysToReference
  }

  /// Year, month and day of a number of days since 2001-01-01; the inverse of
  /// `days(year:month:day:)`.
  private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let days = days + daysToReference
    let era = (days >= 0 ? days : days - (daysPerEra - 1)) / daysPerEra
    let dayOfEra = days - era * daysPerEra
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let day = dayOfYear - (153 * shifted + 2) / 5 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}
