import Foundation
import SteadSQLite
internal import SteadSyncProtocol

/// The values of columns on the wire.
///
/// | a column's | is on the wire |
/// |---|---|
/// | NULL | null |
/// | INTEGER | a whole number |
/// | REAL | a number; `{"$real": "inf"}`, `"-inf"` or `"nan"` where it is not finite |
/// | TEXT | a string |
/// | BLOB | `{"$data": …}` in Base64 |
///
/// The attribute defines what a number or a string means: dates are seconds since 2001, UUIDs are 16 bytes, and
/// Codable values are strings of JSON.
enum ColumnCoding {
  private static let (data, real) = ("$data", "$real")

  static func value(_ column: SQLValue) -> SyncValue {
    switch column {
    case .null: .null
    case .integer(let number): .int(number)
    case .real(let number) where number.isFinite: .double(number)
    case .real(let number):
      .object([real: .string(number.isNaN ? "nan" : number < 0 ? "-inf" : "inf")])
    case .text(let text): .string(text)
    case .blob(let bytes): .object([data: .string(bytes.base64EncodedString())])
    }
  }

  /// Nil for a value that no column of this version can hold.
  static func column(_ value: SyncValue) -> SQLValue? {
    switch value {
    case .null: return .null
    case .bool(let flag): return .integer(flag ? 1 : 0)
    case .int(let number): return .integer(number)
    case .double(let number): return .real(number)
    case .string(let text): return .text(text)
    case .array: return nil
    case .object(let members):
      guard members.count == 1, let (name, content) = members.first, let text = content.string
      else { return nil }
      switch (name, text) {
      case (data, _): return Data(base64Encoded: text).map { .blob($0) }
      case (real, "inf"): return .real(.infinity)
      case (real, "-inf"): return .real(-.infinity)
      case (real, "nan"): return .real(.nan)
      default: return nil
      }
    }
  }
}
