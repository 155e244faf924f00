import Foundation
import SteadSQLite

extension SQLValue {
  /// The value as a property of a type holds it; nil when the column holds something else.
  func decoded<T>(as type: T.Type) -> T? {
    if let type = type as? any SQLDecodable.Type { return type.init(sqlValue: self) as? T }
    if let optional = type as? any OptionalType.Type {
      func open<W>(_ wrapped: W.Type) -> T? {
        // A nil inside the result is a value of the optional type.
        self == .null ? W?.none as? T : decoded(as: wrapped) as? T
      }
      return _openExistential(optional.wrappedType, do: open)
    }
    if let raw = type as? any RawRepresentable.Type { return Self.raw(self, raw) as? T }
    return nil
  }

  private static func raw<R: RawRepresentable>(_ value: SQLValue, _ type: R.Type) -> R? {
    value.decoded(as: R.RawValue.self).flatMap { R(rawValue: $0) }
  }
}
