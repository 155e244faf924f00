import Foundation
import SteadSQLite

extension SQLValue {
  /// The value as a property of a type holds it; nil when the column holds something else.
  ///
  /// Strict, as ``SQLDecodable`` is. Optionals and types with a raw value are read by what they
  /// consist of; any other type is nil.
  func decoded<T>(as type: T.Type) -> T? {
    // Before raw values: an app may make `Date` and the like `RawRepresentable`.
    if let type = type as? any SQLDecodable.Type { return type.init(sqlValue: self) as? T }
    if let optional = type as? any OptionalType.Type {
      func open<W>(_ wrapped: W.Type) -> T? {
        // A nil inside the result is a value of the optional type, so that of a value that is not read must not get
        // there.
        if self == .null { return W?.none as? T }
        guard let value = decoded(as: wrapped) else { return nil }
        return value as? T
      }
      return _openExistential(optional.wrappedType, do: open)
    }
    if let raw = type as? any RawRepresentable.Type { return Self.raw(self, raw) as? T }
    return nil
  }

  /// The case of an enum, by the raw value that the column holds.
  private static func raw<R: RawRepresentable>(_ value: SQLValue, _ type: R.Type) -> R? {
    value.decoded(as: R.RawValue.self).flatMap { R(rawValue: $0) }
  }
}

// MARK: - Types

/// A type that reads its values from columns, strictly: nil for a value of another type.
///
/// ``_AttributeValue`` reads leniently instead, with conversions: it is for objects, and this for checks of migrations and
/// for values without an object.
protocol SQLDecodable {
  /// The value; nil if the column holds something else.
  init?(sqlValue: SQLValue)
}

extension FixedWidthInteger where Self: SQLDecodable {
  init?(sqlValue: SQLValue) {
    switch sqlValue {
    // nil beyond the type's range.
    case .integer(let number): self.init(exactly: number)
    // The large numbers of unsigned types are digits: see `UnsignedColumn`.
    case .text(let digits): self.init(digits)
    default: return nil
    }
  }
}
extension Int: SQLDecodable {}
extension Int8: SQLDecodable {}
extension Int16: SQLDecodable {}
extension Int32: SQLDecodable {}
extension Int64: SQLDecodable {}
extension UInt: SQLDecodable {}
extension UInt8: SQLDecodable {}
extension UInt16: SQLDecodable {}
extension UInt32: SQLDecodable {}
extension UInt64: SQLDecodable {}

extension Bool: SQLDecodable {
  init?(sqlValue: SQLValue) {
    guard case .integer(let number) = sqlValue else { return nil }
    self = number != 0
  }
}
extension Double: SQLDecodable {
  init?(sqlValue: SQLValue) {
    switch sqlValue {
    case .real(let number): self = number
    case .integer(let number): self = Double(number)
    // NaN is the only number that is stored as text: see `RealColumn`.
    case .text(RealColumn.notANumber): self = .nan
    default: return nil
    }
  }
}
extension Float: SQLDecodable {
  init?(sqlValue: SQLValue) {
    guard let number = Double(sqlValue: sqlValue) else { return nil }
    self = Float(number)
    // The value of a wider type, which would become infinite.
    if isInfinite, number.isFinite { return nil }
  }
}
extension CGFloat: SQLDecodable {
  init?(sqlValue: SQLValue) {
    guard let number = Double(sqlValue: sqlValue) else { return nil }
    self = CGFloat(number)
  }
}
extension Date: SQLDecodable {
  init?(sqlValue: SQLValue) {
    guard let seconds = Double(sqlValue: sqlValue) else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}
extension String: SQLDecodable {
  init?(sqlValue: SQLValue) {
    guard case .text(let text) = sqlValue else { return nil }
    self = text
  }
}
extension Decimal: SQLDecodable {
  init?(sqlValue: SQLValue) {
    guard case .text(let text) = sqlValue else { return nil }
    if text == "NaN" { self = .nan } else { self.init(string: text) }
  }
}
extension Data: SQLDecodable {
  init?(sqlValue: SQLValue) {
    guard case .blob(let data) = sqlValue else { return nil }
    self = data
  }
}
extension UUID: SQLDecodable {
  init?(sqlValue: SQLValue) {
    guard case .blob(let data) = sqlValue, data.count == 16 else { return nil }
    self = data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
extension URL: SQLDecodable {
  init?(sqlValue: SQLValue) {
    guard case .text(let text) = sqlValue else { return nil }
    self.init(string: text)
  }
}
