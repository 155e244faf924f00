import Foundation

/// A value that a property list can hold, with the type that it was given.
///
/// Booleans, whole numbers, `Float` and `Double` are told apart, as the binary format tells them
/// apart, and come back from a file as what they were. Two values are equal when kind and content are:
/// `.integer(1)` is neither `.bool(true)` nor `.double(1)`.
public enum PropertyList: Sendable, Hashable {
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A whole number above `Int64.max`; ``init(_:)-(UInt64)`` makes `.integer` of the others.
  case unsignedInteger(UInt64)
  /// A number of 32 bits.
  case float(Float)
  /// A number of 64 bits.
  case double(Double)
  /// A moment.
  case date(Date)
  /// Bytes.
  case data(Data)
  /// Text.
  case string(String)
  /// Values in an order.
  case array([PropertyList])
  /// Values by key.
  case dictionary(Fields)

  /// A whole number of any size up to `UInt64.max`, in the one form that such a number has.
  public init(_ number: UInt64) {
    self = Int64(exactly: number).map { .integer($0) } ?? .unsignedInteger(number)
  }
}
