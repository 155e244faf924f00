import Foundation

/// Scans the values of header fields: tokens, quoted strings and lists (RFC 9110, 5.6). Any bytes
/// are valid input, and what is malformed is skipped in time proportional to its length.
struct FieldScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ value: some StringProtocol) { bytes = Array(value.utf8) }

  var isAtEnd: Bool { position >= bytes.count }

  /// Skips spaces and tabs, and returns whether there were any.
  @discardableResult
  mutating func skipWhitespace() -> Bool {
    let start = position
    while position < bytes.count, Self.isWhitespace(bytes[position]) { position += 1 }
    return position > start
  }

  /// Skips a character if it is the next one.
  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// The token that begins here in lower case, empty if none does.
  mutating func token() -> String {
    let start = position
    while position < bytes.count, Self.isTokenCharacter(bytes[position]) { position += 1 }
    return String(decoding: bytes[start..<position].map(\.lowercasedASCII), as: UTF8.self)
  }

  /// The quoted string that begins here, without quotes and backslashes; nil if none does or if it
  /// doesn't end.
  mutating func quotedString() -> String? {
    let start = position
    guard skip("\"") else { return nil }
    var content: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
      if byte == UInt8(ascii: "\\"), position < bytes.count {
        content.append(bytes[position])
        position += 1
      } else {
        content.append(byte)
      }
    }
    position = start
    // As if nothing was read: the caller takes the quote for an ordinary character.
    return nil
  }

  /// The rest of the input.
  mutating func rest() -> String {
    defer { position = bytes.count }
    return String(decoding: bytes[position...], as: UTF8.self)
  }

  /// The members of a comma-separated list without the whitespace around them; empty members don't
  /// count.
  ///
  /// Commas in quoted strings don't separate. An unclosed quote quotes nothing, so that it cannot
  /// hide the directives after it.
  static func members(of value: String) -> [String] {
    var members: [String] = []
    var scanner = FieldScanner(value)
    var start = 0
    // After one quote without an end no later one has an end either. Looking for each would take
    // quadratic time.
    var quotesEnd = true
    while true {
      while !scanner.isAtEnd, scanner.bytes[scanner.position] != UInt8(ascii: ",") {
        if quotesEnd, scanner.bytes[scanner.position] == UInt8(ascii: "\"") {
          // `quotedString` skips the string, with its commas.
          if scanner.quotedString() != nil { continue }
          quotesEnd = false
        }
        scanner.position += 1
      }
      let member = trimmed(scanner.bytes[start..<scanner.position])
      if !member.isEmpty { members.append(String(decoding: member, as: UTF8.self)) }
      if scanner.isAtEnd { return members }
      scanner.position += 1
      start = scanner.position
    }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let first = bytes.firstIndex(where: { !isWhitespace($0) }),
      let last = bytes.lastIndex(where: { !isWhitespace($0) })
    else { return [] }
    return bytes[first...last]
  }

  private static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}

extension StringProtocol {
  /// The number that the string is, made of digits alone; one too large is the largest. Nil for
  /// anything else.
  var decimalDigits: Int? {
    guard !isEmpty, utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else {
      return nil
    }
    // Digits that overflow are a large number, and no error.
    return Int(self) ?? .max
  }
}

// MARK: - Entity tags

/// A response's `ETag` (RFC 9110, 8.8.3), as it was sent, since some servers leave out the quotes.
struct EntityTag: Sendable, Hashable {
  /// With quotes, and with `W/` if it is weak.
  let value: String

  init?(_ value: String) {
    guard !value.isEmpty else { return nil }
    self.value = value
  }

  /// The tags of an `If-None-Match` or `If-Match`; nil for `*`, which any response has.
  static func list(_ value: String) -> [EntityTag]? {
    let members = FieldScanner.members(of: value)
    return members == ["*"] ? nil : members.compactMap(EntityTag.init)
  }

  /// Whether equal tags promise no more than the same meaning.
  var isWeak: Bool { value.hasPrefix("W/") }

  /// Whether equal tags promise equal bytes.
  var isStrong: Bool {
    value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
  }

  func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

  func matchesStrongly(_ other: EntityTag) -> Bool { isStrong && value == other.value }

  private var opaque: Substring { isWeak ? value.dropFirst(2) : value[...] }
}

// MARK: - Lengths

/// The length of a body by `Content-Length` (RFC 9110, 8.6).
enum BodyLength: Sendable, Hashable {
  case unknown
  case bytes(Int)
  /// Values that differ, or that aren't numbers: nobody knows where the body ends.
  case contradictory

  /// The number of bytes, if it is known.
  var count: Int? {
    if case .bytes(let count) = self { return count }
    return nil
  }
}

extension HTTPCache.Fields {
  /// The length that the fields state. Equal values count once: clients and proxies may have joined
  /// repeated fields into a list.
  var bodyLength: BodyLength {
    let values = self.values(named: "Content-Length").flatMap { FieldScanner.members(of: $0) }
    guard let first = values.first else {
      return contains("Content-Length") ? .contradictory : .unknown
    }
    guard let count = first.decimalDigits,
      values.dropFirst().allSatisfy({ $0.decimalDigits == count })
    else { return .contradictory }
    return .bytes(count)
  }
}

extension HTTPCache.Response {
  /// Whether the body can have the length that the fields state, if they state one.
  ///
  /// Beside `Transfer-Encoding` a length doesn't count, and may be part of an attack (RFC 9112,
  /// 6.3). A 204 has no body.
  var mayHaveStatedLength: Bool {
    switch fields.bodyLength {
    case .unknown: true
    case .contradictory: false
    case .bytes(let count):
      !fields.contains("Transfer-Encoding") && (count == 0 || status != HTTPStatus.noContent)
    }
  }
}

// MARK: - Dates

/// Dates of HTTP (RFC 9110, 5.6.7), in whole seconds: parses the three forms, formats the one of
/// today.
///
/// Without a formatter of Foundation, which depends on a locale and accepts more than the three
/// forms.
enum HTTPDate {
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]
  // The epoch was a Thursday.
  private static let weekdays = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"]
  private static let longWeekdays = [
    "thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday",
  ]
  private static let secondsPerDay = 86_400
  /// The most seconds between the epoch and a moment that is reckoned with: beyond them a `Double`
  /// skips whole seconds.
  static let furthest: TimeInterval = 0x1p53

  /// The moment that a field's value names; nil if it has none of the forms to the letter, case
  /// aside.
  ///
  /// The weekday isn't compared with the date.
  ///
  /// - Parameter now: What decides the century of the form with two digits.
  static func date(_ value: String, now: Date) -> Date? {
    // The longest form has 33 bytes; longer values are not worth splitting.
    guard value.utf8.count <= 40 else { return nil }
    let parts = value.lowercasedASCII.split(separator: " ", omittingEmptySubsequences: false)
    switch parts.count {
    case 6 where parts[0].last == "," && parts[5] == "gmt":  // Sun, 06 Nov 1994 08:49:37 GMT
      guard weekdays.contains(String(parts[0].dropLast())) else { return nil }
      return date(
        number(parts[3], digits: 4), month(parts[2]), number(parts[1], digits: 2), parts[4])
    case 4 where parts[0].last == "," && parts[3] == "gmt":  // Sunday, 06-Nov-94 08:49:37 GMT
      guard longWeekdays.contains(String(parts[0].dropLast())) else { return nil }
      let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
      guard date.count == 3, let year = number(date[2], digits: 2) else { return nil }
      return self.date(
        fullYear(year, now: now), month(date[1]), number(date[0], digits: 2), parts[2])
    case 5:  // Sun Nov 16 08:49:37 1994
      // A day of one digit has two spaces before it, and so is the next case.
      guard weekdays.contains(String(parts[0])) else { return nil }
      return date(
        number(parts[4], digits: 4), month(parts[1]), number(parts[2], digits: 2), parts[3])
    case 6 where parts[2].isEmpty:  // Sun Nov  6 08:49:37 1994
      guard weekdays.contains(String(parts[0])) else { return nil }
      return date(
        number(parts[5], digits: 4), month(parts[1]), number(parts[3], digits: 1), parts[4])
    default: return nil
    }
  }

  /// The form that is written: `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func string(_ date: Date) -> String {
    let seconds = seconds(of: date)
    let day = seconds.floorDivided(by: secondsPerDay)
    let time = seconds - day * secondsPerDay
    let (year, month, dayOfMonth) = civil(day)
    let weekday = weekdays[day - day.floorDivided(by: 7) * 7].capitalized
    let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, to: 2) }.joined(
      separator: ":")
    let name = months[month - 1].capitalized
    return "\(weekday), \(padded(dayOfMonth, to: 2)) \(name) \(padded(year, to: 4)) \(clock) GMT"
  }

  /// The whole seconds from the epoch to a moment; those to the furthest one for a moment beyond
  /// it.
  private static func seconds(of date: Date) -> Int {
    Int(min(max(date.timeIntervalSince1970.rounded(.down), -furthest), furthest))
  }

  private static func date(_ year: Int?, _ month: Int?, _ day: Int?, _ clock: Substring) -> Date? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard let year, let month, let day, parts.count == 3, let hour = number(parts[0], digits: 2),
      let minute = number(parts[1], digits: 2), let second = number(parts[2], digits: 2),
      hour < 24, minute < 60, second <= 60  // A leap second.
    else { return nil }
    let days = self.days(year, month, day)
    // A day that the month does not have becomes one of the next month.
    guard day > 0, civil(days) == (year, month, day) else { return nil }
    return Date(
      timeIntervalSince1970: Double(days * secondsPerDay + hour * 3600 + minute * 60 + second))
  }

  private static func month(_ name: Substring) -> Int? {
    months.firstIndex { $0 == name }.map { $0 + 1 }
  }

  private static func number(_ text: Substring, digits: Int) -> Int? {
    text.utf8.count == digits ? text.decimalDigits : nil
  }

  /// The year that ends with two digits and is the last one at most 50 years from now.
  private static func fullYear(_ year: Int, now: Date) -> Int {
    // RFC 9110, 5.6.7: a date that seems to be more than 50 years ahead is in the past.
    let latest = civil(seconds(of: now).floorDivided(by: secondsPerDay)).year + 50
    return latest - (latest - year) % 100
  }

  /// The days from the epoch to a day of the Gregorian calendar. Years begin with March here, so
  /// that the leap day is the last one.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let (year, month) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    return year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1
      - 719_468
  }

  /// The day of the Gregorian calendar, the reverse of ``days(_:_:_:)``.
  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    // 719,468 days lie between the first of March of the year 0 and the epoch. The calendar repeats
    // after 400 years, which are 146,097 days (H. Hinnant, "chrono-Compatible Low-Level Date
    // Algorithms").
    let shifted = days + 719_468
    let era = shifted.floorDivided(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let year = yearOfEra + era * 400
    return month < 10 ? (year, month + 3, day) : (year + 1, month - 9, day)
  }

  private static func padded(_ number: Int, to digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }
}

extension Int {
  /// The quotient, rounded down for negative numbers, too.
  fileprivate func floorDivided(by divisor: Int) -> Int {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
