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
    guard let list = try? PropertyListSerialization.propertyList(from: text, format: nil) else {
      throw PropertyListError.damaged("its text is of no known format", at: nil)
    }
    // Foundation reads blanks and comments as an empty dictionary. A half-written file would then remove the
    // keys of its domain.
    if let fields = list as? [AnyHashable: Any], fields.isEmpty,
      !text.contains(UInt8(ascii: "{"))
    {
      throw PropertyListError.damaged("its text contains no value", at: nil)
    }
    return try PropertyList(validating: list)
  }
}
