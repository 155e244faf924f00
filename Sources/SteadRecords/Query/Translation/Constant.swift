import Foundation
import SteadSQLite

/// A value known before the query runs.
enum Constant {
  case null
  case scalar(SQLValue, ColumnEncoding)
  /// An object, by its identifier.
  case identifier(PersistentIdentifier)
  /// Anything else, for the operators that know what to do with it.
  case other(Any)

  init<T>(_ value: T) {
    // The commonest types first: a cast to a protocol costs more than all the rest.
    if T.self == String.self {
      self = .scalar(.text(unsafeBitCast(value, to: String.self)), .text)
    } else if T.self == Int.self {
      self = .scalar(.integer(Int64(unsafeBitCast(value, to: Int.self))), .integer)
    } else if T.self == Bool.self {
      self = .scalar(.integer(unsafeBitCast(value, to: Bool.self) ? 1 : 0), .boolean)
    } else {
      self = Constant(any: value)
    }
  }

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

  private static func raw<R: RawRepresentable>(_ value: R) -> Constant? {
    (value.rawValue as? any SQLConstant)?.sqlConstant
  }
}
