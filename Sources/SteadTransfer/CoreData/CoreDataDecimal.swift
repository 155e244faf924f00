import Foundation
import SteadPreferences
import SteadRecords
import SteadSQLite

/// Decimal numbers, which Core Data stores as floating point if that can represent them.
enum CoreDataDecimal {
  /// The digits that a floating-point number holds of any decimal.
  private static let safeDigits = 15
  /// How far off, in units of its last place, Foundation makes the floating-point number of a decimal.
  private static let tolerance = 4.0

  /// The decimal number that was stored: the nearest one with few digits, if one exists.
  static func text(_ number: Double) -> String {
    let short = String(format: "%.\(safeDigits)g", number)
    guard let value = Double(short), abs(value - number) <= tolerance * number.ulp else {
      return "\(number)"
    }
    return short
  }
}
