import Foundation
import SteadSQLite

/// A value that is known before the query runs: a literal, or a captured value.
enum Constant {
  /// nil.
  case null
  /// A value that is bound as a parameter, with the encoding of the columns that it can be compared with.
  case scalar(SQLValue, ColumnEncoding)
  /// An object, by its identifier.
  case identifier(PersistentIdentifier)
  /// Any other value, such as a range, a collection or a struct. The operators that take such values cast them; the
  /// rest throw ``NotTranslatable``.
  case other(Any)

  /// Classifies a value whose type is known at run time alone.
  init<T>(_ value: T) {
    // The commonest types first: a cast to a protocol costs more than all the rest.
    if T.self == String.self {
      // The types are the same, as just compared; a cast by `as?` would go through the runtime.
      self = .scalar(.text(unsafeBitCast(value, to: String.self)), .text)
    } else if T.self == Int.self {
      self = .scalar(.integer(Int64(unsafeBitCast(value, to: Int.self))), .integer)
    } else if T.self == Bool.self {
      self = .scalar(.integer(unsafeBitCast(value, to: Bool.self) ? 1 : 0), .boolean)
    } else {
      self = Constant(any: value)
    }
  }

  /// Classifies a value by the protocols that it conforms to. An enum counts as its raw value.
  init(any value: Any) {
    if let value = value as? any SQLConstant {
      self = value.sqlConstant
    } else if let model = value as? any PersistentModel {
      self = .identifier(model.persistentModelID)
    } else if let raw = value as? any RawRepresentable {
      self = Self.raw(raw) ?? .other(value)
    } else {
      self = .other(value)
    }
  }

  /// The constant of an enum's raw value; nil for a raw value that SQL cannot hold.
  private static func raw<R: RawRepresentable>(_ value: R) -> Constant? {
    (value.rawValue as? any SQLConstant)?.sqlConstant
  }
}

// MARK: - Types

/// A type whose values are written to SQL in the form of their columns, so that a comparison in SQL compares like
/// with like.
///
/// The counterpart of `_AttributeValue._encode`: the two must write the same form, or no row would
/// match.
protocol SQLConstant {
  /// The value as its column would hold it.
  var sqlConstant: Constant { get }
}

extension Optional: SQLConstant {
  var sqlConstant: Constant {
    switch self {
    case nil: .null
    case let value?: Constant(any: value)
    }
  }
}

extension Bool: SQLConstant {
  var sqlConstant: Constant { .scalar(.integer(self ? 1 : 0), .boolean) }
}

/// Integers that an INTEGER column holds completely.
extension BinaryInteger where Self: SQLConstant {
  var sqlConstant: Constant { .scalar(.integer(Int64(truncatingIfNeeded: self)), .integer) }
}
extension Int: SQLConstant {}
extension Int8: SQLConstant {}
extension Int16: SQLConstant {}
extension Int32: SQLConstant {}
extension Int64: SQLConstant {}
extension UInt8: SQLConstant {}
extension UInt16: SQLConstant {}
extension UInt32: SQLConstant {}

/// A column holds an INTEGER as long as the value fits.
extension UInt64: SQLConstant {
  /// INTEGER while it fits, then text of 20 digits, which SQLite sorts after all numbers.
  var sqlConstant: Constant {
    if let small = Int64(exactly: self) { return .scalar(.integer(small), .unsigned64) }
    let digits = String(self)
    // With equal lengths, the order of the text is the order of the numbers.
    let padding = String(repeating: "0", count: 20 - digits.count)
    return .scalar(.text(padding + digits), .unsigned64)
  }
}
extension UInt: SQLConstant {
  var sqlConstant: Constant { UInt64(self).sqlConstant }
}

extension Double: SQLConstant {
  var sqlConstant: Constant { .scalar(isNaN ? .text("NaN") : .real(self), .real) }
}
extension Float: SQLConstant {
  var sqlConstant: Constant { Double(self).sqlConstant }
}
extension CGFloat: SQLConstant {
  var sqlConstant: Constant { Double(self).sqlConstant }
}

extension Date: SQLConstant {
  var sqlConstant: Constant {
    let seconds = timeIntervalSinceReferenceDate
    return .scalar(seconds.isNaN ? .text("NaN") : .real(seconds), .date)
  }
}

extension String: SQLConstant {
  var sqlConstant: Constant { .scalar(.text(self), .text) }
}
extension Substring: SQLConstant {
  var sqlConstant: Constant { .scalar(.text(String(self)), .text) }
}
/// A string of one character, as `contains` of a string takes it.
extension Character: SQLConstant {
  var sqlConstant: Constant { .scalar(.text(String(self)), .text) }
}

/// The digits as text, as the column has them: SQLite has no decimal numbers.
extension Decimal: SQLConstant {
  var sqlConstant: Constant { .scalar(.text(description), .decimal) }
}
extension UUID: SQLConstant {
  var sqlConstant: Constant {
    .scalar(.blob(withUnsafeBytes(of: uuid) { Data($0) }), .uuid)
  }
}
extension Data: SQLConstant {
  var sqlConstant: Constant { .scalar(.blob(self), .data) }
}
extension URL: SQLConstant {
  /// A stored URL has no base, so one with a base equals none of them.
  var sqlConstant: Constant {
    baseURL == nil ? .scalar(.text(absoluteString), .url) : .other(self)
  }
}
/// No single value: which row it is depends on the store and the entity that it is compared in.
extension PersistentIdentifier: SQLConstant {
  var sqlConstant: Constant { .identifier(self) }
}

// MARK: - Ranges

/// A range of one of the standard library's types that is known before the query runs.
protocol BoundedRange {
  /// The lower bound; nil for a range without one.
  var lower: Constant? { get }
  /// The upper bound; nil for a range without one.
  var upper: Constant? { get }
  /// Whether the upper bound is part of the range.
  var isClosed: Bool { get }
}
extension Range: BoundedRange {
  var lower: Constant? { Constant(lowerBound) }
  var upper: Constant? { Constant(upperBound) }
  var isClosed: Bool { false }
}
extension ClosedRange: BoundedRange {
  var lower: Constant? { Constant(lowerBound) }
  var upper: Constant? { Constant(upperBound) }
  var isClosed: Bool { true }
}
extension PartialRangeFrom: BoundedRange {
  var lower: Constant? { Constant(lowerBound) }
  var upper: Constant? { nil }
  var isClosed: Bool { true }
}
extension PartialRangeThrough: BoundedRange {
  var lower: Constant? { nil }
  var upper: Constant? { Constant(upperBound) }
  var isClosed: Bool { true }
}
extension PartialRangeUpTo: BoundedRange {
  var lower: Constant? { nil }
  var upper: Constant? { Constant(upperBound) }
  var isClosed: Bool { false }
}
