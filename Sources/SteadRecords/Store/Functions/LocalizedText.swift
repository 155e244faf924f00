import Foundation
import SteadSQLite

// A sort descriptor with one of our comparators must be one of Foundation's, which only accepts comparable values. So
// it orders by these wrappers of the property, and SQL finds the property in them.

/// A string that is ordered by a region's rules.
protocol LocalizedText: Comparable {
  var text: String { get }
  static var collation: SQLFragment { get }
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

struct RegionalText: LocalizedText {
  let text: String
  static var collation: SQLFragment { " COLLATE stead_localized" }

  static func compare(_ left: String, _ right: String) -> ComparisonResult {
    left.localizedCompare(right)
  }
}

struct RegionalStandardText: LocalizedText {
  let text: String
  static var collation: SQLFragment { " COLLATE stead_localized_standard" }

  static func compare(_ left: String, _ right: String) -> ComparisonResult {
    left.localizedStandardCompare(right)
  }
}

extension String {
  var steadLocalized: RegionalText { RegionalText(text: self) }
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
