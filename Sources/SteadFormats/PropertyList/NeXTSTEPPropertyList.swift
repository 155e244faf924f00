import Foundation

/// NeXTSTEP's property lists, `{ theme = dark; sizes = (1, 2); }`, read by Foundation.
///
/// They are here for two uses that Foundation's `UserDefaults` has off Apple, too: a list on the command
/// line, `-AppleLanguages "(de, en)"`, and a property list file that somebody wrote by hand. Both are
/// short, so speed doesn't count. Foundation's reader limits its depth, and 60,000 files with random
/// changes didn't crash it. It writes a line to standard error for a dictionary without a semicolon.
enum NeXTSTEPPropertyList {
  /// The property list in a UTF-8 text.
  static func read(_ text: Data) throws -> PropertyList {
    guard let list = try? PropertyListSerialization.propertyList(from: text, format: nil) else {
      throw PropertyListError.damaged("The text is not a property list.", at: nil)
    }
    // Foundation takes blanks and comments for an empty dictionary. A file that somebody is still
    // writing would then remove the keys of its domain.
    if let fields = list as? [AnyHashable: Any], fields.isEmpty,
      !text.contains(UInt8(ascii: "{"))
    {
      throw PropertyListError.damaged("The text holds no property list.", at: nil)
    }
    return try PropertyList(validating: list)
  }
}
