import Foundation
import SteadSQLite

/// String orders that equal Swift's and Foundation's.
enum TextOrder {
  /// The order of `String`'s `<`, by canonical equivalence.
  static func canonical(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Int32 {
    if isASCII(left), isASCII(right) { return bytes(left, right) }
    let one = String(decoding: left, as: UTF8.self)
    let other = String(decoding: right, as: UTF8.self)
    return one == other ? 0 : one < other ? -1 : 1
  }

  /// The order of `String.StandardComparator.lexical`.
  static func lexical(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    if isPlain(left), isPlain(right) { return bytes(left, right) }
    let one = String(decoding: left, as: UTF8.self)
    let other = String(decoding: right, as: UTF8.self)
    return Int32(String.StandardComparator.lexical.compare(one, other).rawValue)
  }

  /// The order of UTF-8 bytes.
  ///
  /// Of the result, only the sign has a meaning.
  static func bytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    let count = min(left.count, right.count)
    if count > 0, let one = left.baseAddress, let other = right.baseAddress {
      let order = memcmp(one, other, count)
      if order != 0 { return order }
    }
    // What is the beginning of the other string comes first.
    return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
  }

  /// Whether canonical equivalence is equality: without a branch, which lets the compiler vectorize the loop.
  static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
    var all: UInt8 = 0
    for byte in text { all |= byte }
    return all < 0x80
  }

  /// Whether every byte is one character: ASCII without carriage returns, since one forms a single character with a
  /// line feed.
  static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    var all: UInt8 = 0
    var hasReturn = false
    for byte in text {
      all |= byte
      hasReturn = hasReturn || byte == 0x0D
    }
    return all < 0x80 && !hasReturn
  }
}

// MARK: - Foundation's comparisons

/// Foundation's comparisons of strings, each with the name of its method. The raw values are arguments in SQL.
public enum _StringComparisonMethod: Int, Codable, Sendable {
  case caseInsensitiveCompare
  case localizedCompare
  case localizedStandardCompare
  case localizedCaseInsensitiveCompare

  /// Compares as the method of that name does, by the user's region where the name says so.
  func compare(_ left: String, _ right: String) -> ComparisonResult {
    switch self {
    case .caseInsensitiveCompare: left.caseInsensitiveCompare(right)
    case .localizedCompare: left.localizedCompare(right)
    case .localizedStandardCompare: left.localizedStandardCompare(right)
    case .localizedCaseInsensitiveCompare: left.localizedCaseInsensitiveCompare(right)
    }
  }
}

// MARK: - Localized order

// A sort descriptor with one of our comparators must be one of Foundation's, which only accepts comparable values. So
// it orders by these wrappers of the property, and SQL finds the property in them.

/// A string that is ordered by a region's rules.
protocol LocalizedText: Comparable {
  var text: String { get }
  /// The collation of the same order, for SQL.
  static var collation: SQLFragment { get }
  /// The order, as Foundation's method has it.
  static func compare(_ left: String, _ right: String) -> ComparisonResult
}

extension LocalizedText {
  static func < (left: Self, right: Self) -> Bool {
    compare(left.text, right.text) == .orderedAscending
  }

  static func == (left: Self, right: Self) -> Bool {
    compare(left.text, right.text) == .orderedSame
  }
}

/// A string in the order of `localizedCompare(_:)`.
struct RegionalText: LocalizedText {
  let text: String
  static var collation: SQLFragment { " COLLATE stead_localized" }

  static func compare(_ left: String, _ right: String) -> ComparisonResult {
    left.localizedCompare(right)
  }
}

/// A string in the order of `localizedStandardCompare(_:)`, in which numbers count as numbers.
struct RegionalStandardText: LocalizedText {
  let text: String
  static var collation: SQLFragment { " COLLATE stead_localized_standard" }

  static func compare(_ left: String, _ right: String) -> ComparisonResult {
    left.localizedStandardCompare(right)
  }
}

extension String {
  /// The string in the order of ``RegionalText``.
  var steadLocalized: RegionalText { RegionalText(text: self) }
  /// The string in the order of ``RegionalStandardText``.
  var steadLocalizedStandard: RegionalStandardText { RegionalStandardText(text: self) }
}

extension String? {
  var steadLocalized: RegionalText? { map { RegionalText(text: $0) } }
  var steadLocalizedStandard: RegionalStandardText? { map { RegionalStandardText(text: $0) } }
}

extension TextOrder {
  /// The order of a kind of localized string, for one of SQLite's collations.
  static func localized<Text: LocalizedText>(
    _ type: Text.Type, _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Int32 {
    let one = String(decoding: left, as: UTF8.self)
    let other = String(decoding: right, as: UTF8.self)
    return Int32(Text.compare(one, other).rawValue)
  }
}

// MARK: - Decimal numbers

/// The order of `Decimal`, from its string. Without making a `Decimal` in nearly all cases, which costs far more than
/// comparing digits.
enum DecimalOrder {
  /// The order of two numbers as `Decimal` writes them, or of what another program has written.
  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    if let one = Digits(left), let other = Digits(right) { return Digits.compare(one, other) }
    let one = decimal(left)
    let other = decimal(right)
    return one == other ? 0 : one < other ? -1 : 1
  }

  /// The number of a string, as an attribute reads it; NaN if it is none.
  private static func decimal(_ text: UnsafeRawBufferPointer) -> Decimal {
    let text = String(decoding: text, as: UTF8.self)
    return text == "NaN" ? .nan : Decimal(string: text) ?? .nan
  }

  /// A number as `Decimal` writes it: a sign, digits, perhaps a point and more digits.
  private struct Digits {
    let isNegative: Bool
    /// The digits before the point, without leading zeros.
    let whole: Slice<UnsafeRawBufferPointer>
    /// The digits after the point, without trailing zeros.
    let fraction: Slice<UnsafeRawBufferPointer>

    /// nil for anything else, such as an exponent or `NaN`, which `Decimal` then reads.
    init?(_ text: UnsafeRawBufferPointer) {
      var rest = text[...]
      isNegative = rest.first == UInt8(ascii: "-")
      if isNegative { rest = rest.dropFirst() }
      guard !rest.isEmpty, rest.allSatisfy({ Self.isDigit($0) || $0 == UInt8(ascii: ".") }) else {
        return nil
      }
      let point = rest.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
      // 007 equals 7.
      whole = rest[..<point].drop { $0 == UInt8(ascii: "0") }
      var tail = point == rest.endIndex ? rest[point...] : rest[(point + 1)...]
      guard !tail.contains(UInt8(ascii: ".")) else { return nil }
      // 1.50 equals 1.5.
      while tail.last == UInt8(ascii: "0") { tail = tail.dropLast() }
      fraction = tail
    }

    /// Whether a byte is an ASCII digit.
    private static func isDigit(_ byte: UInt8) -> Bool {
      byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    /// Whether the number is zero, of either sign.
    private var isZero: Bool { whole.isEmpty && fraction.isEmpty }

    /// Compares two numbers: zeros first, which are equal whatever their signs, then signs, then
    /// magnitudes.
    static func compare(_ left: Digits, _ right: Digits) -> Int32 {
      if left.isZero && right.isZero { return 0 }
      if left.isNegative != right.isNegative { return left.isNegative ? -1 : 1 }
      let order = magnitude(left, right)
      return left.isNegative ? -order : order
    }

    /// The order of the absolute values. Whole parts have no leading zeros, so the longer one is greater; fractions
    /// have no trailing ones, so their bytes decide.
    private static func magnitude(_ left: Digits, _ right: Digits) -> Int32 {
      if left.whole.count != right.whole.count {
        return left.whole.count < right.whole.count ? -1 : 1
      }
      let whole = TextOrder.bytes(
        UnsafeRawBufferPointer(rebasing: left.whole), UnsafeRawBufferPointer(rebasing: right.whole))
      if whole != 0 { return whole < 0 ? -1 : 1 }
      let fraction = TextOrder.bytes(
        UnsafeRawBufferPointer(rebasing: left.fraction),
        UnsafeRawBufferPointer(rebasing: right.fraction))
      return fraction < 0 ? -1 : fraction > 0 ? 1 : 0
    }
  }
}

// MARK: - Search

/// Searches in UTF-8: fast if both strings are plain ASCII, and Swift's own search otherwise.
enum TextSearch {
  /// UTF-8 as SQLite has it: valid during the call, and not checked.
  typealias Bytes = UnsafeRawBufferPointer

  /// A copy as a string; invalid UTF-8 in it is repaired.
  private static func string(_ bytes: Bytes) -> String { String(decoding: bytes, as: UTF8.self) }

  /// `contains(_:)` of the standard library, by characters.
  static func contains(_ text: Bytes, _ part: Bytes) -> Bool {
    if part.isEmpty { return true }
    // In plain text a byte is a character.
    if TextOrder.isPlain(text), TextOrder.isPlain(part) {
      return find(part, in: text)
    }
    return contains(string(text), string(part))
  }

  /// Whether a text has another one's bytes, of which there is at least one.
  static func find(_ part: Bytes, in text: Bytes) -> Bool {
    guard text.count >= part.count, let base = text.baseAddress, let other = part.baseAddress
    else { return false }
    var start = 0
    let last = text.count - part.count
    while start <= last {
      // The first byte leaves few positions to compare.
      guard let hit = memchr(base + start, Int32(part[0]), last - start + 1) else { return false }
      if memcmp(hit, other, part.count) == 0 { return true }
      start = UnsafeRawPointer(hit) - base + 1
    }
    return false
  }

  /// The search that the predicate's node makes in memory, character by character: `String.contains` of Foundation differs.
  private static func contains<Base: Collection, Other: Collection>(
    _ base: Base, _ other: Other
  ) -> Bool where Base.Element: Equatable, Base.Element == Other.Element {
    base.contains(other)
  }

  /// `Sequence.starts(with:)`, by characters.
  static func starts(_ text: Bytes, _ part: Bytes) -> Bool {
    if TextOrder.isPlain(text), TextOrder.isPlain(part) { return begins(text, part) }
    return string(text).starts(with: string(part))
  }

  /// `String.hasPrefix(_:)`.
  static func hasPrefix(_ text: Bytes, _ part: Bytes) -> Bool {
    if TextOrder.isPlain(text), TextOrder.isPlain(part) { return begins(text, part) }
    return string(text).hasPrefix(string(part))
  }

  /// `String.hasSuffix(_:)`.
  static func hasSuffix(_ text: Bytes, _ part: Bytes) -> Bool {
    if TextOrder.isPlain(text), TextOrder.isPlain(part) {
      guard text.count >= part.count else { return false }
      return begins(Bytes(rebasing: text[(text.count - part.count)...]), part)
    }
    return string(text).hasSuffix(string(part))
  }

  /// Whether a text begins with another one's bytes.
  private static func begins(_ text: Bytes, _ part: Bytes) -> Bool {
    guard text.count >= part.count else { return false }
    guard let one = text.baseAddress, let other = part.baseAddress else { return part.isEmpty }
    return memcmp(one, other, part.count) == 0
  }

  /// `localizedStandardContains(_:)` of Foundation: without regard to case and diacritics.
  static func standardContains(_ text: Bytes, _ part: Bytes) -> Bool {
    if isSimple(text, part) { return containsCaseless(text, part) }
    return string(text).localizedStandardContains(string(part))
  }

  /// `localizedCaseInsensitiveContains(_:)` of Foundation.
  static func caselessContains(_ text: Bytes, _ part: Bytes) -> Bool {
    if isSimple(text, part) { return containsCaseless(text, part) }
    return string(text).localizedCaseInsensitiveContains(string(part))
  }

  /// Whether a case-insensitive search can compare bytes, whose cases differ by one bit.
  private static func isSimple(_ text: Bytes, _ part: Bytes) -> Bool {
    !part.isEmpty && hasPlainCases && TextOrder.isPlain(text) && TextOrder.isPlain(part)
      && !hasNUL(text) && !hasNUL(part)
  }

  /// Foundation's search ends at NUL in some cases: it finds "a\0" in "a".
  private static func hasNUL(_ text: Bytes) -> Bool {
    guard let start = text.baseAddress else { return false }
    return memchr(start, 0, text.count) != nil
  }

  /// Whether i and I are one letter in the user's language; asked once, since finding the locale
  /// would cost more than the search.
  private static let hasPlainCases: Bool = {
    // Turkish and Azeri have an i with and one without a dot, and Lithuanian keeps the dot below an
    // accent.
    let language = Locale.current.language.languageCode?.identifier ?? ""
    return !["tr", "az", "lt"].contains(language)
  }()

  /// Finds an ASCII string without regard to case. Compares the first letter in both cases before anything else.
  ///
  /// At worst it compares as often as both lengths multiplied.
  private static func containsCaseless(_ text: Bytes, _ part: Bytes) -> Bool {
    guard text.count >= part.count, let first = part.first else { return false }
    let (lower, upper) = (lowercase(first), uppercase(first))
    for start in 0...(text.count - part.count) {
      guard text[start] == lower || text[start] == upper else { continue }
      var index = 1
      while index < part.count, lowercase(text[start + index]) == lowercase(part[index]) {
        index += 1
      }
      if index == part.count { return true }
    }
    return false
  }

  /// The lower-case letter of an ASCII letter; any other byte as it is.
  private static func lowercase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// The upper-case letter of an ASCII letter; any other byte as it is.
  private static func uppercase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte & ~0x20 : byte
  }
}
