import Foundation

/// Sums that throw where Swift's would trap.
enum AggregateArithmetic {
  static func sum<V: Numeric>(_ left: V, _ right: V) throws -> V {
    guard let left = left as? any FixedWidthInteger else { return left + right }
    return try checked(left, right)
  }

  private static func checked<I: FixedWidthInteger, V: Numeric>(_ left: I, _ right: V) throws -> V {
    guard let right = right as? I else { throw overflow }
    let (sum, isTooLarge) = left.addingReportingOverflow(right)
    guard !isTooLarge, let sum = sum as? V else { throw overflow }
    return sum
  }

  static let overflow = SwiftDataError(
    .storeFailure, "The sum does not fit into the property's type; average, or sum a wider type.")

  static func double<V: Numeric>(_ value: V) -> Double {
    if let integer = value as? any BinaryInteger { return double(integer: integer) }
    if let real = value as? any BinaryFloatingPoint { return double(real: real) }
    return (value as? Decimal).map { NSDecimalNumber(decimal: $0).doubleValue } ?? .nan
  }

  private static func double<I: BinaryInteger>(integer: I) -> Double { Double(integer) }
  private static func double<F: BinaryFloatingPoint>(real: F) -> Double { Double(real) }

  /// Whether a value equals itself, which NaN doesn't.
  static func isNumber<V: Equatable>(_ value: V) -> Bool { value == value }
}
