import Foundation

/// A value that a property list can hold, with its original type.
///
/// Booleans, whole numbers, `Float` and `Double` are distinct, as in the binary format, and are restored from
/// a file as what they were. Two values are equal when kind and content are: `.integer(1)` equals neither
/// `.bool(true)` nor `.double(1)`.
public enum PropertyList: Sendable, Hashable {
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A whole number above `Int64.max`; ``init(_:)-(UInt64)`` makes `.integer` of the others.
  case unsignedInteger(UInt64)
  /// A 32-bit floating-point number.
  case float(Float)
  /// A 64-bit floating-point number.
  case double(Double)
  /// A moment.
  case date(Date)
  /// Bytes.
  case data(Data)
  /// A string.
  case string(String)
  /// An ordered list of values.
  case array([PropertyList])
  /// Values by key.
  case dictionary(Fields)

  /// Makes a whole number up to `UInt64.max`, in its only form.
  public init(_ number: UInt64) {
    self = Int64(exactly: number).map { .integer($0) } ?? .unsignedInteger(number)
  }
}
