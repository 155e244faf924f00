import Foundation

/// NeXTSTEP's property lists, `{ theme = dark; sizes = (1, 2); }`, read by Foundation.
///
/// They exist for two uses that Foundation's `UserDefaults` has off Apple, too: a list on the command line,
/// `-AppleLanguages "(de, en)"`, and a property list file written by hand. Both are short, so speed doesn't
/// matter. Foundation's reader limits its depth, and 60,000 files with random changes didn't crash it. It
/// writes a line to standard error for a dictionary without a semicolon.
enum NeXTSTEPPropertyList {
  /// Reads the property list in UTF-8.
  static func read(_ text: Data) throws -> PropertyList {
    guard var list = foundationsReading(of: text) else {
      throw PropertyListError.damaged("its text is of no known format", at: nil)
    }
    if list is [AnyHashable: Any], !hasBrace(text) { list = try fieldsWithoutBraces(text) }
    return try PropertyList(validating: list)
  }

  /// The keys of a strings file: `theme = dark; size = 2;` without braces.
  ///
  /// Foundation's reader stops at the first character that no key can begin with, and returns the keys before it
  /// without an error. A slip of the hand would then remove all keys behind it from a domain. Between braces it
  /// accepts the same contents, and nothing else.
  private static func fieldsWithoutBraces(_ text: Data) throws -> Any {
    // A line comment at the end must not hide the brace.
    let list = foundationsReading(of: Data("{\n".utf8) + text + Data("\n}".utf8))
    guard let fields = list as? [AnyHashable: Any] else {
      throw PropertyListError.damaged(
        "its keys are not within braces, and something between them is neither a key nor a value",
        at: nil)
    }
    // Foundation reads blanks and comments as an empty dictionary. A half-written file would then remove the
    // keys of its domain.
    guard !fields.isEmpty else {
      throw PropertyListError.damaged("its text contains no value", at: nil)
    }
    return fields
  }

  private static func foundationsReading(of text: Data) -> Any? {
    try? PropertyListSerialization.propertyList(from: text, format: nil)
  }

  /// Whether the first character that isn't blank, nor part of a comment, is an opening brace.
  private static func hasBrace(_ text: Data) -> Bool {
    var rest = String(decoding: text, as: UTF8.self).unicodeScalars[...]
    func isBreak(_ scalar: Unicode.Scalar) -> Bool {
      ["\n", "\r", "\u{2028}", "\u{2029}"].contains(scalar)
    }
    while let first = rest.first {
      if first == " " || ("\t"..."\r").contains(first) || isBreak(first) {
        rest.removeFirst()
      } else if rest.starts(with: "//".unicodeScalars) {
        rest = rest.drop { !isBreak($0) }
      } else if rest.starts(with: "/*".unicodeScalars) {
        rest = rest.dropFirst(2)
        while !rest.isEmpty, !rest.starts(with: "*/".unicodeScalars) { rest.removeFirst() }
        rest = rest.dropFirst(2)
      } else {
        return first == "{"
      }
    }
    return false
  }
}
