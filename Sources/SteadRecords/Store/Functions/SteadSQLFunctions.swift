import SteadSQLite

/// The functions and collations that queries use and SQLite lacks.
///
/// They exist on connections of this package alone; tables never mention them, so that any SQLite
/// reads and writes a store.
enum SteadSQLFunctions {
  static let functions: [SQLFunction] =
    TextFunctions.all + NumberFunctions.all + ValueFunctions.all

  static let collations: [SQLCollation] = [
    SQLCollation(name: "stead_canonical") { _, leftCount, left, rightCount, right in
      TextOrder.canonical(
        UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    SQLCollation(name: "stead_lexical") { _, leftCount, left, rightCount, right in
      TextOrder.lexical(
        UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    SQLCollation(name: "stead_localized") { _, leftCount, left, rightCount, right in
      TextOrder.localized(
        RegionalText.self, UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    SQLCollation(name: "stead_localized_standard") { _, leftCount, left, rightCount, right in
      TextOrder.localized(
        RegionalStandardText.self, UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    SQLCollation(name: "stead_decimal") { _, leftCount, left, rightCount, right in
      DecimalOrder.compare(
        UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
  ]
}

extension SQLCall {
  /// The argument as a number; the text that stands for NaN becomes NaN.
  func real(_ index: Int) -> Double { isText(index) ? .nan : double(index) }

  /// Returns a number; NaN as the text that stands for it.
  func returns(_ value: Double) {
    if value.isNaN { returns("NaN") } else { returns(double: value) }
  }
}
