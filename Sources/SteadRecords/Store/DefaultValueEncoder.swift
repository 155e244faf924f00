import Foundation
import SteadSQLite

/// Turns the default value of a property into what its column holds, for rows that are older.
enum DefaultValueEncoder {
  static func encode(_ value: Any, as encoding: ColumnEncoding) -> SQLValue? {
    // An app may make `Date` and the like `RawRepresentable`.
    if let raw = value as? any RawRepresentable, !(value is any _AttributeValue) {
      return encodeRaw(raw, as: encoding)
    }
    switch value {
    case let value as Bool: return .integer(value ? 1 : 0)
    case let value as UInt64: return unsigned(value)
    case let value as UInt: return unsigned(UInt64(value))
    case let value as any BinaryInteger: return .integer(Int64(truncatingIfNeeded: value))
    case let value as Double: return real(value)
    case let value as Float: return real(Double(value))
    case let value as CGFloat: return real(Double(value))
    case let value as String: return .text(value)
    case let value as Date: return .real(value.timeIntervalSinceReferenceDate)
    case let value as Decimal: return .text(value.description)
    case let value as Data: return .blob(value)
    case let value as UUID: return .blob(withUnsafeBytes(of: value.uuid) { Data($0) })
    case let value as URL: return .text(value.absoluteString)
    case let value as any Encodable: return (try? JSONColumn.text(value)).map { .text($0) }
    default: return nil
    }
  }

  private static func encodeRaw<R: RawRepresentable>(
    _ value: R, as encoding: ColumnEncoding
  ) -> SQLValue? {
    encode(value.rawValue, as: encoding)
  }

  private static func unsigned(_ value: UInt64) -> SQLValue {
    Int64(exactly: value).map { .integer($0) } ?? .text(UnsignedColumn.text(value))
  }

  private static func real(_ value: Double) -> SQLValue {
    value.isNaN ? .text(RealColumn.notANumber) : .real(value)
  }
}
