import Foundation

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
