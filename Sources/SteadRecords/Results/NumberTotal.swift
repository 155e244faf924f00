import Foundation
import SteadSQLite

/// A sum of numbers under way: exact for integers, and of `Double` for floating-point numbers.
///
/// Rows of results and objects are added to the same type, so that a sum does not depend on which of its values are
/// saved, but for the last digits of floating-point numbers: newer versions of SQLite add them with a compensation.
///
/// An integer on the way may be larger than the type of the values: only the whole sum has to fit. Floating-point
/// numbers are added as SQLite's `total` adds them, in `Double` also for `Float`. What overflows is infinite, as with
/// Swift's `+`.
enum NumberTotal {
  // Twice as wide as the widest column, so that no number of rows overflows it.
  case integer(Int128)
  case real(Double)

  /// The number of a value; nil for a type that no column holds as an integer or a floating-point number, nor its raw
  /// value, such as `Decimal` and `Int128`.
  init?(_ value: Any) {
    if let integer = value as? any BinaryInteger {
      guard value is any SQLDecodable, let exact = Self.exact(integer) else { return nil }
      self = .integer(exact)
    } else if let real = value as? any BinaryFloatingPoint {
      guard value is any SQLDecodable else { return nil }
      self = .real(Self.double(real))
    } else if !(value is Decimal), let raw = value as? any RawRepresentable {
      // A column has the raw value, which SQL adds.
      self.init(raw.rawValue)
    } else {
      return nil
    }
  }

  /// The total of a row of results of ``AggregateTranslator/results(of:over:)``; nil if a column does not hold numbers.
  init?(row: ArraySlice<SQLValue>) {
    let row = Array(row)
    guard row.count >= 3, row[2] == .integer(0) else { return nil }
    switch (row[0], row[1]) {
    case (.integer(let high), .integer(let low)):
      self = .integer(Int128(high) << 32 + Int128(low))
    case (.real(let sum), .integer(let notNumbers)):
      self = .real(notNumbers == 0 ? sum : .nan)
    // The sum of both infinities is NaN, which SQLite returns as NULL.
    case (.null, .integer): self = .real(.nan)
    default: return nil
    }
  }

  /// Adds another total.
  mutating func add(_ other: NumberTotal) {
    if case .integer(let left) = self, case .integer(let right) = other {
      self = .integer(left + right)
    } else {
      self = .real(double + other.double)
    }
  }

  /// The total, rounded to a `Double`.
  var double: Double {
    switch self {
    case .integer(let total): Double(total)
    case .real(let total): total
    }
  }

  /// The total as a number type: nil for an integer that the type lacks, infinite for a floating-point number that is
  /// too large.
  func value<V>(as type: V.Type) -> V? {
    switch self {
    case .integer(let total):
      // The digits of what no column holds as an integer, as in `UnsignedColumn`.
      let stored = Int64(exactly: total).map { SQLValue.integer($0) } ?? .text("\(total)")
      return stored.decoded(as: type)
    case .real(let total):
      return SQLValue.real(total).decoded(as: type)
        ?? SQLValue.real(total < 0 ? -.infinity : .infinity).decoded(as: type)
    }
  }

  private static func exact<I: BinaryInteger>(_ integer: I) -> Int128? { Int128(exactly: integer) }
  private static func double<F: BinaryFloatingPoint>(_ real: F) -> Double { Double(real) }
}

// MARK: - Sums

/// The sum of one group: a total, or the sum of a type that no column holds as a number, such as `Decimal` and `Int128`.
struct GroupSum<V: Numeric> {
  private var total: NumberTotal?
  private var other: V = 0
  /// Whether a sum of numbers was none. `Decimal` has NaN for a sum that it cannot hold.
  private var isTooLarge = false

  /// Adds a value of an object.
  mutating func add(_ value: V) {
    if let number = NumberTotal(value) { return add(number) }
    guard let sum = AggregateArithmetic.sum(other, value) else {
      isTooLarge = true
      return
    }
    if !AggregateArithmetic.isNumber(sum), AggregateArithmetic.isNumber(other),
      AggregateArithmetic.isNumber(value)
    {
      isTooLarge = true
    }
    other = sum
  }

  /// Adds the total of some rows.
  mutating func add(_ number: NumberTotal) {
    if total == nil { total = number } else { total?.add(number) }
  }

  /// The sum; nil if it does not fit the type.
  var value: V? {
    if let total { return total.value(as: V.self) }
    return isTooLarge ? nil : other
  }
}

// MARK: - Averages

/// The average of one group: the total of its values, and their number.
struct GroupAverage {
  private var total: NumberTotal
  private var count: Int

  init(_ total: NumberTotal, count: Int = 1) {
    self.total = total
    self.count = count
  }

  /// Adds the values of another average.
  mutating func add(_ other: GroupAverage) {
    total.add(other.total)
    count += other.count
  }

  /// The average; nil without a value.
  var value: Double? { count == 0 ? nil : total.double / Double(count) }
}

// MARK: - Arithmetic

/// What aggregates ask of values of any number type.
enum AggregateArithmetic {
  /// A value as a total; NaN for an app's own type that is not made of a number.
  static func total(_ value: Any) -> NumberTotal {
    if let total = NumberTotal(value) { return total }
    return switch value {
    case let decimal as Decimal: .real(NSDecimalNumber(decimal: decimal).doubleValue)
    case let integer as any BinaryInteger: .real(double(integer))
    case let real as any BinaryFloatingPoint: .real(double(real))
    default: .real(.nan)
    }
  }

  private static func double<I: BinaryInteger>(_ integer: I) -> Double { Double(integer) }
  private static func double<F: BinaryFloatingPoint>(_ real: F) -> Double { Double(real) }

  /// The sum of two values; nil for one of integers that their type does not hold.
  static func sum<V: Numeric>(_ left: V, _ right: V) -> V? {
    func add<I: FixedWidthInteger>(_ left: I) -> V? {
      guard let right = right as? I else { return nil }
      let (sum, overflows) = left.addingReportingOverflow(right)
      return overflows ? nil : sum as? V
    }
    guard let integer = left as? any FixedWidthInteger else { return left + right }
    return add(integer)
  }

  /// Whether a value is no NaN: it equals itself, and is not that of `Decimal`, which does.
  static func isNumber(_ value: some Equatable) -> Bool {
    value == value && (value as? Decimal)?.isNaN != true
  }
}
